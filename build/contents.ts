/** The files of the packages: where each of them goes, and what it is made of. @module */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compress, type Entry, type FileEntry } from './archive.ts'
import type { Inside } from './nodes.ts'
import { formatPartsList, readManifest, readParts } from './parts.ts'

const MAIN = 'dist/cli/main.js'

/** What is no part of the program, or has a place of its own. */
const ELSEWHERE = /\.(?:map|d\.ts|1)$|^dist\/licenses\.txt$/

/** Finds its own folder also through links, and starts the Node there. */
const LAUNCHER = `#!/bin/sh
lib="$(dirname -- "$(readlink -f -- "$0")")/../lib/clipgate"
exec "$lib/node" "$lib/${MAIN}" "$@"
`

const WINDOWS_LAUNCHER = `@"%~dp0node.exe" "%~dp0${MAIN.replaceAll('/', '\\')}" %*\r\n`

const MENU = 'deploy/menu/clipgate.desktop'

/** Icons that the pages have too, and where desktops look for them, below `share` of a prefix. */
const ICONS: readonly (readonly [file: string, path: string])[] = [
  ['icon.svg', 'icons/hicolor/scalable/apps/clipgate.svg'],
  ['icon-192.png', 'icons/hicolor/192x192/apps/clipgate.png'],
]

/** A word by the way, such as " ([why](decisions/007.md))", and a sentence such as " [All](all.md)." */
const ASIDE = /\s(?:\(\[(?:why|how|all)\b[^\]]*\]\(([^)\s]+)\)\)|\[All\b[^\]]*\]\(([^)\s]+)\)\.)/g

/** Code, in which nothing is a link; an image of HTML; an image or a link. */
const LINK =
  /^( {0,3})(```+|~~~+).*?^\1\2 *$|`[^`\n]+`|<picture>.*?<\/picture>|<img [^>]*>|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/gms

/** Where each shell looks for completions, below `share` of a prefix. */
const COMPLETIONS: readonly (readonly [shell: string, path: string])[] = [
  ['bash', 'bash-completion/completions/clipgate'],
  ['fish', 'fish/vendor_completions.d/clipgate.fish'],
]

/** The files of the npm package, which has its dependencies from npm. */
export function npmFiles(project: string): readonly FileEntry[] {
  const paths = [
    ...['package.json', 'LICENSE', 'CHANGELOG.md'],
    ...filesBelow(project, 'dist').filter((path) => !path.endsWith('.map')),
    ...recipes(project),
    ...documents(project),
  ]
  return withLiveLinks(paths.map((path) => fileOf(project, path)))
}

/** Where a package has the program. */
export interface Place {
  /** Such as `usr/`, or nothing. */
  readonly prefix: string
  /** Where zsh looks for completions, below `share/zsh`. */
  readonly zsh: string
  /** The Node that it brings; without one it finds one on the path. */
  readonly inside?: Inside | undefined
}

/** The program with all that it needs. */
export function programFiles(project: string, { prefix, zsh, inside }: Place): readonly Entry[] {
  const own = ownFiles(project)
  const share = (path: string, content: Uint8Array): FileEntry => ({
    path: `${prefix}share/${path}`,
    content,
  })
  const read = (path: string) => readFileSync(join(project, path))
  return withLiveLinks([
    ...own.map((file) => ({ ...file, path: `${prefix}lib/clipgate/${file.path}` })),
    ...(inside === undefined
      ? [{ path: `${prefix}bin/clipgate`, target: `../lib/clipgate/${MAIN}` }]
      : [
          launcher(`${prefix}bin/clipgate`, LAUNCHER),
          { path: `${prefix}lib/clipgate/node`, content: inside.program, isProgram: true },
          share('doc/clipgate/clipgate.cdx.json', partsList(project, inside)),
        ]),
    share('man/man1/clipgate.1.gz', compress(read('dist/clipgate.1'))),
    share('doc/clipgate/copyright', Buffer.from(copyright(project, inside))),
    share('doc/clipgate/changelog.gz', compress(read('CHANGELOG.md'))),
    ...documents(project).map((path) => share(`doc/clipgate/${path}`, read(path))),
    share(`zsh/${zsh}/_clipgate`, completion(project, 'zsh')),
    ...COMPLETIONS.map(([shell, path]) => share(path, completion(project, shell))),
    share('applications/clipgate.desktop', Buffer.from(menuEntry(project, prefix))),
    ...ICONS.map(([file, path]) => share(path, read(`dist/clipgate-files/phone/${file}`))),
  ])
}

/** The program for Windows, with its Node, in one folder. */
export function windowsFiles(project: string, inside: Inside): readonly FileEntry[] {
  const pages = [...documents(project), 'CHANGELOG.md'].map((path) => fileOf(project, path))
  return withLiveLinks([
    ...ownFiles(project),
    ...pages,
    launcher('clipgate.cmd', WINDOWS_LAUNCHER),
    { path: 'node.exe', content: inside.program, isProgram: true },
    ...inside.packages,
    { path: 'LICENSE.txt', content: Buffer.from(copyright(project, inside)) },
    { path: 'clipgate.cdx.json', content: partsList(project, inside) },
  ])
}

/** The program with its Node where nothing else is, not even a shell. */
export function imageFiles(project: string, inside: Inside): readonly Entry[] {
  const lib = 'usr/lib/clipgate'
  const needed = /^usr\/(?:lib|share\/doc\/clipgate\/(?:copyright|.*\.json))/
  const files = programFiles(project, { prefix: 'usr/', zsh: '', inside })
  return [
    ...files.flatMap((file) => {
      if (!needed.test(file.path)) return []
      if (file.path !== `${lib}/${MAIN}` || !('content' in file)) return [file]
      const text = Buffer.from(file.content).toString().replace(/^#!.*/, `#!/${lib}/node`)
      return [{ ...file, content: Buffer.from(text) }]
    }),
    { path: 'usr/bin/clipgate', target: `../lib/clipgate/${MAIN}` },
  ]
}

/** Leaves the words of links that lead out of the package, and no picture that it does not have. */
function withLiveLinks<Each extends Entry>(entries: readonly Each[]): readonly Each[] {
  const paths = new Set<string>()
  for (let { path } of entries) for (; path !== '.'; path = dirname(path)) paths.add(path)
  return entries.map((entry) => {
    if (!('content' in entry) || !/^(?!.*node_modules\/).*\.md$/.test(entry.path)) return entry
    const leads = (link: string): boolean => {
      const [file = ''] = link.split('#')
      const path = join(dirname(entry.path), decodeURIComponent(file)).replace(/\/$/, '')
      return file === '' || /^[a-z][a-z+.-]*:/i.test(link) || paths.has(path)
    }
    const text = Buffer.from(entry.content)
      .toString()
      .replace(ASIDE, (all, one: string, other: string) => (leads(one ?? other) ? all : ''))
      .replace(LINK, (all: string, _indent, _fence, image, words?: string, link?: string) => {
        if (words !== undefined) return leads(String(link)) ? all : image ? '' : words
        const sources = [...all.matchAll(/\ssrc(?:set)?="([^"\s]+)/g)]
        return !all.startsWith('<') || sources.every(([, path = '']) => leads(path)) ? all : ''
      })
    return { ...entry, content: Buffer.from(text) }
  })
}

/** What the program is made of, and reads while it runs. */
function ownFiles(project: string): readonly FileEntry[] {
  const program = filesBelow(project, 'dist').filter((path) => !ELSEWHERE.test(path))
  return ['package.json', ...program, ...recipes(project)].map((path) => fileOf(project, path))
}

function launcher(path: string, text: string): FileEntry {
  return { path, content: Buffer.from(text), isProgram: true }
}

/** What the program prints, as whoever uses it would get it. */
function completion(project: string, shell: string): Buffer {
  return execFileSync(process.execPath, [join(project, MAIN), 'completion', shell])
}

/**
 * The entry in the menu of a desktop. What is unpacked below the home folder is seldom on the path of
 * a desktop, and what it needs may not be there either: nobody would see what a shell says of that.
 */
function menuEntry(project: string, prefix: string): string {
  const text = readFileSync(join(project, MENU), 'utf8')
  const command = /^Exec=(clipgate .*)$/m.exec(text)?.[1]
  if (command === undefined) throw new Error(`${MENU} does not start clipgate`)
  const said = 'clipgate or its Node is not on the path of the desktop'
  const script = `PATH=$HOME/.local/bin:/usr/local/bin:$PATH; ${command}; test $? -ne 127 || notify-send clipgate '${said}'`
  const unpacked = `sh -c "${script.replaceAll('$', '\\\\$')}"`
  const installed = `/${prefix}bin/${command}\nTryExec=/${prefix}bin/clipgate`
  return text.replace(command, () => (prefix === '' ? unpacked : installed))
}

/** The licenses of the program and of what is in it. */
function copyright(project: string, inside?: Inside): string {
  const { version, license } = readManifest(project)
  const [own, others] = ['LICENSE', 'dist/licenses.txt'].map((path) =>
    readFileSync(join(project, path), 'utf8'),
  )
  const text = `clipgate ${version}: ${license}\n\n${own}\n\n${others}`
  return inside === undefined ? text : `${text}\n\n${inside.license}`
}

/** The parts of a package with a Node, as CycloneDX. */
function partsList(project: string, { parts }: Inside): Buffer {
  const manifest = readManifest(project)
  const direct = Object.fromEntries(parts.map(({ name, version }) => [name, version]))
  const dependencies = { ...manifest.dependencies, ...direct }
  return Buffer.from(
    formatPartsList({ ...manifest, dependencies }, [...readParts(project), ...parts]),
  )
}

/** What messages of the program name, and what that links. */
function documents(project: string): readonly string[] {
  const pages = filesBelow(project, 'docs').filter((path) =>
    /^docs\/(?:guides\/)?(?!CONTRIBUTING|rules)[^/]+\.md$/.test(path),
  )
  return ['README.md', 'deploy/README.md', 'docs/openapi.yaml', ...pages]
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
