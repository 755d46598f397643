/** The files of the packages: where each of them goes, and what it is made of. @module */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compress, type Entry, type FileEntry } from './archive.ts'
import { readManifest } from './parts.ts'

const MAIN = 'dist/cli/main.js'

/** What is no part of the program, or has a place of its own. */
const ELSEWHERE = /\.(?:map|d\.ts|1)$|^dist\/licenses\.txt$/

/** Where each shell looks for completions, below `share` of a prefix. */
const COMPLETIONS: readonly (readonly [shell: string, path: string])[] = [
  ['bash', 'bash-completion/completions/clipgate'],
  ['fish', 'fish/vendor_completions.d/clipgate.fish'],
]

/** The files of the npm package, which has its dependencies from npm. */
export function npmFiles(project: string): readonly FileEntry[] {
  const paths = [
    ...['package.json', 'README.md', 'LICENSE'],
    ...filesBelow(project, 'dist').filter((path) => !path.endsWith('.map')),
    ...recipes(project),
  ]
  return paths.map((path) => fileOf(project, path))
}

/**
 * The program with all that it needs but Node, below a prefix such as `usr/` or nothing.
 *
 * @param zsh Where zsh looks for completions, below `share/zsh`.
 */
export function programFiles(
  project: string,
  { prefix, zsh }: { readonly prefix: string; readonly zsh: string },
): readonly Entry[] {
  const program = filesBelow(project, 'dist').filter((path) => !ELSEWHERE.test(path))
  const own = ['package.json', ...program, ...recipes(project)].map((path) => fileOf(project, path))
  const share = (path: string, content: Uint8Array): FileEntry => ({
    path: `${prefix}share/${path}`,
    content,
  })
  const read = (path: string) => readFileSync(join(project, path))
  return [
    ...own.map((file) => ({ ...file, path: `${prefix}lib/clipgate/${file.path}` })),
    { path: `${prefix}bin/clipgate`, target: `../lib/clipgate/${MAIN}` },
    share('man/man1/clipgate.1.gz', compress(read('dist/clipgate.1'))),
    share('doc/clipgate/copyright', Buffer.from(copyright(project))),
    share('doc/clipgate/changelog.gz', compress(read('CHANGELOG.md'))),
    ...guides(project).map((path) => share(`doc/clipgate/${path}`, read(path))),
    share(`zsh/${zsh}/_clipgate`, completion(project, 'zsh')),
    ...COMPLETIONS.map(([shell, path]) => share(path, completion(project, shell))),
  ]
}

/** What the program prints, as whoever uses it would get it. */
function completion(project: string, shell: string): Buffer {
  return execFileSync(process.execPath, [join(project, MAIN), 'completion', shell])
}

/** The licenses of the program and of what is in it. */
function copyright(project: string): string {
  const { version, license } = readManifest(project)
  const [own, others] = ['LICENSE', 'dist/licenses.txt'].map((path) =>
    readFileSync(join(project, path), 'utf8'),
  )
  return `clipgate ${version}: ${license}\n\n${own}\n\n${others}`
}

/** What messages of the program name, and what that links. */
function guides(project: string): readonly string[] {
  const pages = filesBelow(project, 'docs').filter(
    (path) => /^docs\/(?:guides\/)?[^/]+\.md$/.test(path) && path !== 'docs/CONTRIBUTING.md',
  )
  return ['README.md', ...pages]
}

/** Those that need no clone of the project. */
function recipes(project: string): readonly string[] {
  return filesBelow(project, 'deploy').filter((path) => path.split('/').length > 2)
}

function filesBelow(project: string, folder: string): readonly string[] {
  return readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(project, '/').length))
    .sort()
}

function fileOf(project: string, path: string): FileEntry {
  const content = readFileSync(join(project, path))
  return { path, content, isProgram: content.subarray(0, 2).toString() === '#!' }
}
