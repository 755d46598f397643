/**
 * Makes `dist/`, after `tsc -p src` has checked everything and written the declarations.
 *
 * The program is one file: it starts in three quarters of the time that ninety modules take. The
 * library entries share what they have in common, so that an error of one is an error of the
 * other. Neither holds packages. A folder of small modules would take twice the space on disk.
 *
 * @module
 */

import { build } from 'esbuild'
import { chmod, copyFile, cp, readdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const PROGRAM = 'dist/cli/main.js'
const LIBRARY = ['src/index.ts', 'src/link.ts', 'src/client.ts']

const { version } = JSON.parse(await readFile('package.json', 'utf8'))

/**
 * Modules of Node that take milliseconds and megabytes, and that only some commands need. As imports
 * of the bundle they would be loaded at every start; like this, with the module that wants them.
 *
 * @type {import('esbuild').Plugin}
 */
const LAZY_BUILTINS = {
  name: 'lazy-builtins',
  setup(plugin) {
    const filter = /^node:(?:child_process|dns|https|tls)$/
    plugin.onResolve({ filter }, ({ path }) => ({ path, namespace: 'lazy-builtin' }))
    plugin.onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/** @type {import('esbuild').BuildOptions} */
const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  define: { CLIPGATE_VERSION: JSON.stringify(version) },
  // Names and lines stay: they are what a stack trace is read by.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [LAZY_BUILTINS],
}

// What follows replaces the modules, and nobody imports the program as a library.
await rm('dist/cli', { recursive: true })
for (const path of await readdir('dist', { recursive: true })) {
  if (path.endsWith('.js')) await rm(join('dist', path))
}

await build({ ...OPTIONS, entryPoints: ['src/cli/main.ts'], outfile: PROGRAM })
await chmod(PROGRAM, 0o755)
await build({ ...OPTIONS, entryPoints: LIBRARY, outdir: 'dist', splitting: true })

// Declarations that no entry leads to are of no use to anybody.
const declarations = new Set()
for (const entry of LIBRARY) await follow(join('dist', `${basename(entry, '.ts')}.d.ts`))
for (const path of await readdir('dist', { recursive: true })) {
  if (path.endsWith('.d.ts') && !declarations.has(join('dist', path))) await rm(join('dist', path))
}

// Workers and helpers stand beside whatever starts them.
for (const path of await readdir('src', { recursive: true })) {
  if (!/-worker\.js$|-helper\.(?:js|ps1|cs)$/.test(path)) continue
  for (const folder of ['dist', 'dist/cli']) {
    await copyFile(join('src', path), join(folder, basename(path)))
  }
}

// The page of the panel is served as it is; what is in its folder for the compiler is not.
for (const folder of ['dist', 'dist/cli']) {
  await cp('src/control/panel', join(folder, 'panel'), {
    recursive: true,
    filter: (source) => !/\.(?:json|ts)$/.test(source),
  })
}

/**
 * Collects a declaration file and those that it imports.
 *
 * @param {string} path
 */
async function follow(path) {
  if (declarations.has(path)) return
  declarations.add(path)
  const text = await readFile(path, 'utf8')
  for (const [, specifier = ''] of text.matchAll(/(?:from|import\()\s*['"](\.[^'"]+)['"]/g)) {
    await follow(join(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts')))
  }
}
