/**
 * The packages that the build makes a part of the program: their files, and their licenses. Nobody
 * who installs clipgate installs them, with all that nobody loads of them.
 *
 * @module
 */

import { build } from 'esbuild'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(import.meta.url)

/** What is in the program, with what it needs itself. */
export const BUNDLED = [
  '@jsquash/jpeg',
  '@jsquash/webp',
  'buffer-crc32',
  'hash-wasm',
  'qr',
  'x11',
  'yazl',
]

/** The files that the program loads by themselves, as it names them, and where the build has them. */
export const FILES = /** @satisfies {Readonly<Record<string, string>>} */ ({
  'hash-wasm/dist/blake3.umd.min.js': 'blake3.cjs',
  'hash-wasm/dist/argon2.umd.min.js': 'argon2.cjs',
  yazl: 'yazl.cjs',
  x11: 'x11.cjs',
  '@jsquash/jpeg/decode.js': 'jpeg.js',
  '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm': 'jpeg.wasm',
  '@jsquash/webp/decode.js': 'webp.js',
  '@jsquash/webp/codec/dec/webp_dec.wasm': 'webp.wasm',
})

/** Of `x11`: a server, tables of keys, and extensions that nobody asks for. */
const NOT_LOADED = /^\.\/(?:xserver|keysyms|gcfunction|ext\/(?!fixes|big-requests).*)$/

/** @type {import('esbuild').Plugin} */
const LOADED = {
  name: 'loaded',
  setup(plugin) {
    plugin.onResolve({ filter: /^\.\// }, ({ path }) =>
      NOT_LOADED.test(path) ? { path, external: true } : undefined,
    )
  },
}

/**
 * Writes the files of the packages.
 *
 * @param {string} folder
 * @returns {Promise<readonly string[]>} The paths of all that is in them.
 */
export async function writePackages(folder) {
  const paths = []
  for (const [name, file] of Object.entries(FILES)) {
    const [from, outfile] = [require.resolve(name), join(folder, file)]
    if (file.endsWith('.wasm')) {
      // Not with the rights that it has in the package.
      await writeFile(outfile, await readFile(from))
      continue
    }
    const { metafile } = await build({
      entryPoints: [from],
      outfile,
      bundle: true,
      format: file.endsWith('.cjs') ? 'cjs' : 'esm',
      platform: 'node',
      target: 'node20.19',
      minify: true,
      legalComments: 'none',
      logLevel: 'error',
      metafile: true,
      plugins: [LOADED],
    })
    paths.push(...Object.keys(metafile.inputs))
  }
  return paths
}

/**
 * Fails when other packages are a part of the program than those that are listed.
 *
 * @param {readonly string[]} paths Of all files that are in it.
 */
export function checkPackages(paths) {
  const found = paths.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  const names = [...new Set(found)].filter((name) => name !== undefined).sort()
  if (names.join() !== BUNDLED.join()) throw new Error(`The program has ${names.join(', ')} in it`)
}

/**
 * Formats the licenses of the packages, each text once.
 *
 * @param {string} project
 */
export async function formatLicenses(project) {
  /** @type {Map<string, string[]>} */
  const texts = new Map()
  for (const name of BUNDLED) {
    const folder = join(project, 'node_modules', name)
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    // What was compiled to WebAssembly has licenses of its own.
    const files = name.startsWith('@jsquash/') ? ['LICENSE', 'codec/LICENSE.codec.md'] : ['LICENSE']
    for (const file of files) {
      const text = (await readFile(join(folder, file), 'utf8')).trim()
      texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`])
    }
  }
  return [...texts].map(([text, names]) => `${names.join(', ')}\n\n${text}\n`).join('\n\n')
}
