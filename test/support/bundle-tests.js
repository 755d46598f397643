/**
 * Makes one file of each test and all of ours that it imports, which starts in a fraction of the
 * time: to read a hundred modules of TypeScript one by one takes longer than most tests.
 * @module
 */

import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Writes them, as `.mjs` and under their own paths, into a folder from which packages are found.
 *
 * @param {readonly string[]} files
 * @param {string} folder
 * @param {string} [root] The URL of the project for who runs them, as each module has its own still.
 */
export async function bundleTests(files, folder, root = new URL('../../', import.meta.url).href) {
  await build({
    entryPoints: [...files],
    outdir: folder,
    outbase: ROOT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    keepNames: true,
    sourcemap: 'inline',
    sourcesContent: false,
    define: { 'import.meta.url': 'moduleUrl' },
    logLevel: 'error',
    plugins: [keepUrls(root)],
  })
}

/**
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
function keepUrls(root) {
  return {
    name: 'urls',
    setup(plugin) {
      plugin.onLoad({ filter: /\.[jt]s$/ }, async ({ path }) => {
        const text = (await readFile(path, 'utf8')).replace(/^#!.*/, '')
        const own = `const moduleUrl = ${JSON.stringify(new URL(relative(ROOT, path), root).href)};`
        return { contents: own + text, loader: path.endsWith('.ts') ? 'ts' : 'js' }
      })
    },
  }
}
