/**
 * Makes the folder that is named, after `tsc -p src` has checked everything and written the
 * declarations there.
 *
 * What the daemon needs to start is one file, which the program and the library have in common:
 * ninety modules take longer to load, and so does a file that holds what only commands or desktops
 * need. Beside it there is a file for each of those. An error of one entry is an error of the
 * others. What is read or run by itself, of ours and of packages, is in a folder.
 *
 * @module
 */

import { build, transform } from 'esbuild'
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { writePages } from '../src/web/make-page.js'
import { checkPackages, FILES, formatLicenses, writePackages } from './packages.js'
import { rollUpTypes } from './types.js'

const [, , OUT = 'dist'] = process.argv

const PROGRAM = 'src/cli/main.ts'
const LIBRARY = ['src/index.ts', 'src/gateway.ts', 'src/link.ts', 'src/client.ts']

/** In a file of its own: who has ports of their own leaves the rest of the gateway behind. */
const GATEWAY_ALONE = 'src/gateway/create-gateway.ts'

/** What it is made of. */
const ALONE = build({
  entryPoints: [GATEWAY_ALONE],
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  write: false,
  metafile: true,
}).then(({ metafile }) => Object.keys(metafile.inputs))

const TARGET = 'node20.19'

/** A program with the gateway in it has a copy of this folder beside it: see docs/embedding.md. */
const FOLDER = 'clipgate-files'

/**
 * Shortens the names that no stack trace shows, those of locals: a sixth less is to be read at each
 * start.
 *
 * @type {import('esbuild').TransformOptions}
 */
const LOCALS = {
  loader: 'ts',
  target: TARGET,
  minifyIdentifiers: true,
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
}

/** Leads to all that the daemon needs to start. */
const START = 'src/cli/run-cli.ts'

/** Has parts of the start as well. */
const LIBRARY_OF_START = 'src/index.ts'

const { version } = JSON.parse(await readFile('package.json', 'utf8'))

/** Those of Node that take milliseconds and megabytes, and that a start does without. */
const SELDOM = /^node:(?:child_process|crypto|dns|https|module|tls|worker_threads)$/

const BUILTIN_IMPORT = /^import \{([^}]*)\} from '(node:[^']+)'/gm

/**
 * Gets modules of Node without `import`, which asks them for all that they export, and so loads
 * parts that nobody needs: each once for all of ours, and once for the gateway, which is to have no
 * name that it does not use. Those that are seldom needed wait until then.
 *
 * @type {import('esbuild').Plugin}
 */
const BUILTINS = {
  name: 'builtins',
  setup(plugin) {
    const start = resolve(START)
    const withStart = new Set([resolve(LIBRARY_OF_START)])
    // Whoever has a part of the start has all of it: so it is not cut into pieces.
    plugin.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
      if (kind === 'dynamic-import') withStart.add(resolve(resolveDir, path))
      return undefined
    })
    // The one package that becomes a part of our files.
    const qr = createRequire(import.meta.url).resolve('qr')
    plugin.onResolve({ filter: /^qr$/ }, () => ({ path: qr }))
    plugin.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8')
      const more = withStart.has(path) ? `\nimport ${JSON.stringify(start)}` : ''
      const { code } = await transform(contents + more, LOCALS)
      return { contents: code, loader: 'js' }
    })
    plugin.onResolve({ filter: /^(?:node|alone|getters):/ }, async ({ path, importer }) => {
      const [scheme = ''] = path.split(':')
      const isAlone = (await ALONE).includes(relative('.', importer))
      const often = isAlone ? 'alone' : 'often'
      return {
        path: path.replace(scheme, 'node'),
        namespace: scheme !== 'node' ? scheme : SELDOM.test(path) ? 'seldom' : often,
        sideEffects: false,
      }
    })
    plugin.onLoad({ filter: /.*/, namespace: 'alone' }, async ({ path }) => {
      const names = await findNames(path, await ALONE)
      return { contents: `export const {${names.join(',')}} = ${builtin(path)}` }
    })
    plugin.onLoad({ filter: /.*/, namespace: 'often' }, async ({ path }) => {
      const alone = await findNames(path, await ALONE)
      const names = (await findNames(path)).filter((name) => !alone.includes(name))
      const all = `export const {${names.join(',')}} = ${builtin(path)}`
      return { contents: `export * from '${path.replace('node', 'alone')}'\n${all}` }
    })
    plugin.onLoad({ filter: /.*/, namespace: 'seldom' }, async ({ path }) => {
      const all = (await findNames(path)).map((name) => `export ${wrap(path, name)}`)
      return { contents: [loadOnce(path), ...all].join('\n') }
    })
    plugin.onLoad({ filter: /.*/, namespace: 'getters' }, async ({ path }) => {
      const names = await findNames(path)
      const getters = names.map((name) => `get ${name}() { return load().${name} },`)
      return { contents: `${loadOnce(path)}\nmodule.exports = {${getters.join('')}}` }
    })
  },
}

/** @type {import('esbuild').BuildOptions} */
const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: TARGET,
  packages: 'external',
  splitting: true,
  outdir: OUT,
  outbase: 'src',
  define: {
    CLIPGATE_VERSION: JSON.stringify(version),
    CLIPGATE_FILES: JSON.stringify(`./${FOLDER}/`),
  },
  // Names of functions and classes stay: they are what a stack trace is read by.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [BUILTINS],
}

/**
 * Has a worker load the packages that are beside it.
 *
 * @type {import('esbuild').Plugin}
 */
const OWN_PACKAGES = {
  name: 'own-packages',
  setup(plugin) {
    plugin.onLoad({ filter: /-worker\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text.replace(/\brequire\('([^.'][^']*)'\)/g, (_, name) => {
        const file = Object.entries(FILES).find(([known]) => known === name)?.[1]
        if (file === undefined) throw new Error(`Nothing puts ${name} beside the workers`)
        return `require('./${file}')`
      })
      return { contents, loader: 'js' }
    })
  },
}

// What follows replaces the modules, and nobody imports the program as a library.
await rm(join(OUT, 'cli'), { recursive: true })
for (const path of await readdir(OUT, { recursive: true })) {
  if (path.endsWith('.js')) await rm(join(OUT, path))
}

const { metafile } = await build({
  ...OPTIONS,
  entryPoints: [PROGRAM, ...LIBRARY, GATEWAY_ALONE],
  metafile: true,
})
// Nobody names this one: the other entries have what is in it from the same file.
await rm(join(OUT, GATEWAY_ALONE.replace(/^src\/(.*)\.ts$/, '$1.js')))
await chmod(join(OUT, 'cli/main.js'), 0o755)

// A program of its own, which has nothing in common with the daemon.
await build({
  ...OPTIONS,
  entryPoints: { 'windows-helper': 'src/desktop/windows/windows-helper.ts' },
  splitting: false,
  plugins: [],
})

// An import of another form has slipped through, or a library for browsers has become one for Node.
for (const [path, { imports }] of Object.entries(metafile.outputs)) {
  const left = imports.find(
    ({ kind, path }) => kind === 'import-statement' && path.startsWith('node:'),
  )
  if (left !== undefined) throw new Error(`${path} imports ${left.path}`)
}

// Those for any runtime do without the types of Node.
await rollUpTypes(OUT, [
  { file: 'neutral-types.d.ts', entries: ['link.d.ts', 'client.d.ts'] },
  { file: 'gateway-types.d.ts', entries: ['gateway.d.ts'] },
  { file: 'daemon-types.d.ts', entries: ['index.d.ts'] },
])
await removeEmptyFolders(OUT)

// Workers find what they compute with beside them.
await mkdir(join(OUT, FOLDER))
for (const path of await readdir('src', { recursive: true })) {
  const [from, to] = [join('src', path), join(OUT, FOLDER, basename(path))]
  if (path.endsWith('-helper.js')) await copyFile(from, join(OUT, basename(path)))
  if (path.endsWith('-kernel.wasm')) await copyFile(from, to)
  if (!path.endsWith('-worker.js')) continue
  await build({
    ...OPTIONS,
    entryPoints: { [basename(path, '.js')]: from },
    outdir: join(OUT, FOLDER),
    splitting: false,
    minify: true,
    plugins: [OWN_PACKAGES],
  })
}

await writePages(join(OUT, FOLDER))

checkPackages([...Object.keys(metafile.inputs), ...(await writePackages(join(OUT, FOLDER)))])
await writeFile(join(OUT, 'licenses.txt'), await formatLicenses('.'))

// npm puts it where `man` looks.
const man = await promisify(execFile)(process.execPath, [join(OUT, 'cli/main.js'), 'help', '--man'])
await writeFile(join(OUT, 'clipgate.1'), man.stdout)

/**
 * Without the types. A value may have the name `type` itself.
 *
 * @param {string} names
 */
function valuesOf(names) {
  const all = names.split(',').map((name) => name.trim())
  return all.filter((name) => name !== '' && !/^type (?!as )/.test(name))
}

/**
 * What the sources, or these files, import from a module.
 *
 * @param {string} wanted
 * @param {readonly string[]} [files]
 */
async function findNames(wanted, files) {
  /** @type {Set<string>} */
  const found = new Set()
  const all = await readdir('src', { recursive: true })
  for (const path of files ?? all.map((path) => join('src', path))) {
    if (!path.endsWith('.ts')) continue
    const text = await readFile(path, 'utf8')
    for (const [, names = '', module] of text.matchAll(BUILTIN_IMPORT)) {
      if (module !== wanted) continue
      for (const name of valuesOf(names)) found.add(name.replace(/ as .*/, ''))
    }
  }
  return [...found]
}

/** @param {string} module */
function builtin(module) {
  return `process.getBuiltinModule('${module}')`
}

/**
 * A function that loads its module when it is called: whoever bundles ours leaves it behind where
 * nobody calls it. What is none, or has a second form for `promisify`, is got each time.
 *
 * @param {string} module
 * @param {string} name
 */
function wrap(module, name) {
  const value = createRequire(import.meta.url)(module)[name]
  if (typeof value !== 'function' || promisify.custom in value) {
    return `{ ${name} } from 'getters:${module.slice('node:'.length)}'`
  }
  const isClass = /^[A-Z]/.test(name)
  return isClass
    ? `const ${name} = function (...args) { return new (load().${name})(...args) }`
    : `const ${name} = (...args) => load().${name}(...args)`
}

/** @param {string} module */
function loadOnce(module) {
  return `let loaded\nconst load = () => (loaded ??= ${builtin(module)})`
}

/** @param {string} folder */
async function removeEmptyFolders(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name))
  }
  if ((await readdir(folder)).length === 0) await rmdir(folder)
}
