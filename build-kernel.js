/**
 * Compiles `src/hashing/blake3-kernel.as` to the `.wasm` beside it, which is kept in the repository,
 * so that a checkout runs without being built. A test compares the two.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SOURCE = new URL('src/hashing/blake3-kernel.as', import.meta.url)
const MODULE = new URL('src/hashing/blake3-kernel.wasm', import.meta.url)

const COMPILER = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js')

const FLAGS = [
  '-O3', '--converge', '--runtime', 'stub', '--noAssert', '--enable', 'simd',
  // 64 KiB each: one for the state, one for the batch.
  '--initialMemory', '2', '--maximumMemory', '2',
]

const ROUNDS = 7

/** How the words of the message are moved between two rounds. */
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]

/**
 * Writes the module, as this compiler makes it.
 *
 * @param {string | URL} target
 */
export async function compileKernel(target) {
  const text = await readFile(SOURCE, 'utf8')
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-kernel-'))
  try {
    // It insists on `.ts`, which other tools would take for TypeScript.
    const [source, compiled] = [join(folder, 'kernel.ts'), join(folder, 'kernel.wasm')]
    await writeFile(source, text.replace(/^ *\/\/ ROUNDS: .*$/m, formatRounds))
    await promisify(execFile)(process.execPath, [COMPILER, source, '--outFile', compiled, ...FLAGS])
    await copyFile(compiled, target)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * AssemblyScript has no functions with several results, and rounds that look up their words, or
 * keep `s0` to `s15` in memory, take a third longer. So they are written out.
 */
function formatRounds() {
  let words = Array.from({ length: 16 }, (_, index) => index)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(formatRound(words))
    words = PERMUTATION.map((index) => words[index] ?? 0)
  }
  return rounds.join('\n')
}

/** @param {readonly number[]} words */
function formatRound(words) {
  const next = words.values()
  return [
    // Columns, then diagonals.
    [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
    [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
  ].map(([a, b, c, d]) => `
    s${a} = add(add(s${a}, s${b}), word(${next.next().value}))
    s${d} = turn16(s${d}, s${a})
    s${c} = add(s${c}, s${d})
    s${b} = turn12(s${b}, s${c})
    s${a} = add(add(s${a}, s${b}), word(${next.next().value}))
    s${d} = turn8(s${d}, s${a})
    s${c} = add(s${c}, s${d})
    s${b} = turn7(s${b}, s${c})`).join('')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await compileKernel(MODULE)
}
