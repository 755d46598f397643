/**
 * Compiles the kernels, `*-kernel.as`, to the `.wasm` beside them, which are kept in the
 * repository, so that a checkout runs without being built. Tests compare the two.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const COMPILER = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js')

const FLAGS = ['-O3', '--converge', '--runtime', 'stub', '--noAssert', '--enable', 'simd']

/**
 * @typedef {object} Kernel
 * @property {string} path Without the suffix.
 * @property {readonly string[]} parts Other sources that it imports.
 * @property {readonly string[]} memory In pages of 64 KiB.
 * @property {() => string} formatRounds Writes what stands in the place of `// ROUNDS: ...`:
 *   AssemblyScript has no functions with several results, and rounds that keep their words in
 *   memory take a third longer.
 */

export const BLAKE3_KERNEL = /** @satisfies {Kernel} */ ({
  path: 'src/hashing/blake3-kernel',
  parts: [],
  // One for the state, one for the batch.
  memory: ['--initialMemory', '2', '--maximumMemory', '2'],
  formatRounds: formatBlake3Rounds,
})

export const ARGON2_KERNEL = /** @satisfies {Kernel} */ ({
  path: 'src/devices/argon2-kernel',
  parts: ['src/devices/blake2b.as'],
  // It grows.
  memory: ['--initialMemory', '1'],
  formatRounds: formatArgon2Rounds,
})

/**
 * Writes the module, as this compiler makes it.
 *
 * @param {Kernel} kernel
 * @param {string | URL} target
 */
export async function compileKernel(kernel, target) {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-kernel-'))
  try {
    for (const part of [`${kernel.path}.as`, ...kernel.parts]) {
      const text = await readFile(inRepository(part), 'utf8')
      // The compiler insists on `.ts`, which other tools would take for TypeScript.
      const copy = join(folder, basename(part, '.as') + '.ts')
      await writeFile(copy, text.replace(/^ *\/\/ ROUNDS: .*$/m, kernel.formatRounds))
    }
    const source = join(folder, `${basename(kernel.path)}.ts`)
    const compiled = join(folder, 'kernel.wasm')
    const options = [source, '--outFile', compiled, ...FLAGS, ...kernel.memory]
    await promisify(execFile)(process.execPath, [COMPILER, ...options])
    await copyFile(compiled, target)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** @param {string} path */
function inRepository(path) {
  return new URL(`../${path}`, import.meta.url)
}

/** On `s0` to `s15`; looking the words of the message up would also take a third longer. */
function formatBlake3Rounds() {
  // How the words of the message are moved between two rounds.
  const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
  let words = Array.from({ length: 16 }, (_, index) => index)
  const rounds = []
  for (let round = 0; round < 7; round++) {
    rounds.push(formatBlake3Round(words))
    words = permutation.map((index) => words[index] ?? 0)
  }
  return rounds.join('\n')
}

/** @param {readonly number[]} words */
function formatBlake3Round(words) {
  const next = words.values()
  return [
    // Columns, then diagonals.
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
  ]
    .map(
      ([a, b, c, d]) => `
    s${a} = add(add(s${a}, s${b}), word(${next.next().value}))
    s${d} = turn16(s${d}, s${a})
    s${c} = add(s${c}, s${d})
    s${b} = turn12(s${b}, s${c})
    s${a} = add(add(s${a}, s${b}), word(${next.next().value}))
    s${d} = turn8(s${d}, s${a})
    s${c} = add(s${c}, s${d})
    s${b} = turn7(s${b}, s${c})`,
    )
    .join('')
}

/**
 * Two rounds, on `x0` to `x7` and `y0` to `y7`. Each holds two words of the matrix of BLAKE2b, so
 * that a row of it is two vectors. For the diagonals the second and the fourth row are moved by one
 * word, and of the others only other halves are taken.
 */
function formatArgon2Rounds() {
  const rounds = [
    ['x', 'first'],
    ['y', 'second'],
  ]
  const each = (/** @type {(s: string, place: string) => string} */ format) =>
    rounds.map(([s = '', place = '']) => format(s, place)).join('')
  const vectors = Array.from({ length: 8 }, (_, index) => index)
  const columns = [
    [0, 2, 4, 6],
    [1, 3, 5, 7],
  ]
  const diagonals = [
    [0, 2, 5, 7],
    [1, 3, 4, 6],
  ]
  return [
    each((s, place) =>
      vectors
        .map(
          (i) => `
      let ${s}${i} = v128.load(${place} + ${i} * step)`,
        )
        .join(''),
    ),
    each((s) => columns.map((quarter) => formatQuarter(s, quarter)).join('')),
    each((s) => formatMove(s, 2, 3) + formatMove(s, 6, 7)),
    each((s) => diagonals.map((quarter) => formatQuarter(s, quarter)).join('')),
    // Moved twice, a row has its halves exchanged.
    each((s) => formatMove(s, 2, 3) + formatMove(s, 6, 7)),
    each((s, place) =>
      [0, 1, 3, 2, 4, 5, 7, 6]
        .map(
          (from, i) => `
      v128.store(${place} + ${i} * step, ${s}${from})`,
        )
        .join(''),
    ),
  ].join('\n')
}

/**
 * @param {string} s
 * @param {readonly number[]} vectors
 */
function formatQuarter(s, [a, b, c, d]) {
  return `
    ${s}${a} = mix(${s}${a}, ${s}${b})
    ${s}${d} = turn32(${s}${d}, ${s}${a})
    ${s}${c} = mix(${s}${c}, ${s}${d})
    ${s}${b} = turn24(${s}${b}, ${s}${c})
    ${s}${a} = mix(${s}${a}, ${s}${b})
    ${s}${d} = turn16(${s}${d}, ${s}${a})
    ${s}${c} = mix(${s}${c}, ${s}${d})
    ${s}${b} = turn63(${s}${b}, ${s}${c})`
}

/**
 * Moves a row by one word.
 *
 * @param {string} s
 * @param {number} left
 * @param {number} right
 */
function formatMove(s, left, right) {
  return `
    {
      const before = ${s}${left}
      ${s}${left} = join(${s}${left}, ${s}${right})
      ${s}${right} = join(${s}${right}, before)
    }`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const kernel of [BLAKE3_KERNEL, ARGON2_KERNEL]) {
    await compileKernel(kernel, inRepository(`${kernel.path}.wasm`))
  }
}
