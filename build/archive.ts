/**
 * Archives that depend on nothing but what is in them: tar, gzip, zip and ar.
 *
 * Owner, time and order are the same whoever makes them, so anybody can make a release again and
 * compare it byte for byte.
 * @module
 */

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'

/** The part of the package `yazl` that is used; it has no types. */
interface Zip {
  addBuffer(content: Uint8Array, path: string, options: object): void
  end(): void
  readonly outputStream: NodeJS.ReadableStream
}

const { ZipFile } = createRequire(import.meta.url)('yazl')

/** One file of an archive, a link or a folder. Paths have no slash at their beginning. */
export type Entry = FileEntry | LinkEntry | FolderEntry

export interface FileEntry {
  readonly path: string
  readonly content: Uint8Array
  readonly isProgram?: boolean
}

export interface LinkEntry {
  readonly path: string
  /** Relative to the folder of the link. */
  readonly target: string
}

/** A folder that not everybody may read, or that is not of root. Its path ends with a slash. */
export interface FolderEntry {
  readonly path: string
  readonly mode: number
  readonly owner: number
}

/** 1985-10-26, as npm has it: some tools take anything earlier for an error. */
const TIME_S = 499_162_500

const BLOCK = 512

/** What is as large as a Node is compressed by itself, once for all archives that have it. */
const LARGE = 2 ** 24

const compressed = new Map<string, Buffer>()

/**
 * Formats a tar archive (POSIX ustar) of the entries and the folders that they are in.
 *
 * @param root What stands before each path; ends with a slash. It becomes a folder too.
 * @throws {RangeError} when a path is longer than the format allows.
 */
export function formatTar(entries: readonly Entry[], root: string): Buffer {
  return Buffer.concat(tarParts(entries, root))
}

/**
 * The same, compressed.
 *
 * @param ownFolder The only folder that stands in it, with those below: where an archive is unpacked
 *   over folders of others, these stay as they are. All, unless it is given.
 */
export function formatTarGz(entries: readonly Entry[], root: string, ownFolder = ''): Buffer {
  const members: Uint8Array[][] = [[]]
  for (const part of tarParts(entries, root, ownFolder)) {
    if (part.length < LARGE) members.at(-1)?.push(part)
    else members.push([part], [])
  }
  return Buffer.concat(
    members.map((parts) => {
      const [large] = parts
      if (large === undefined || large.length < LARGE) return compress(Buffer.concat(parts))
      const digest = createHash('sha256').update(large).digest('hex')
      const member = compressed.get(digest) ?? compress(large, 6)
      compressed.set(digest, member)
      return member
    }),
  )
}

function tarParts(entries: readonly Entry[], root: string, ownFolder = ''): readonly Uint8Array[] {
  const folders = new Set<string>([root])
  for (const { path } of entries) {
    const last = path.length - 1
    for (let at = path.indexOf('/'); at >= 0 && at < last; at = path.indexOf('/', at + 1)) {
      folders.add(root + path.slice(0, at + 1))
    }
  }
  const blocks = [
    ...[...folders]
      .filter((path) => path.startsWith(root + ownFolder))
      .map((path): readonly [string, readonly Uint8Array[]] => [
        path,
        [tarHeader(path, { mode: 0o755, type: '5' })],
      ]),
    ...entries.map((entry): readonly [string, readonly Uint8Array[]] => [
      root + entry.path,
      tarEntry(root + entry.path, entry),
    ]),
  ]
  const sorted = blocks.sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, parts]) => parts)
  return [...sorted, Buffer.alloc(2 * BLOCK)]
}

/**
 * Formats a zip archive, whose times have no zone.
 *
 * @param root What stands before each path; ends with a slash.
 */
export async function formatZip(entries: readonly FileEntry[], root: string): Promise<Buffer> {
  const zip: Zip = new ZipFile()
  const mtime = new Date(1985, 9, 26, 8, 15)
  for (const { path, content, isProgram = false } of entries) {
    const mode = isProgram ? 0o100755 : 0o100644
    zip.addBuffer(content, root + path, { mtime, mode, forceDosTimestamp: true })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** Formats an ar archive, as packages of Debian are. */
export function formatAr(members: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  const parts = members.flatMap(([name, content]) => {
    const fields = [
      name.padEnd(16),
      String(TIME_S).padEnd(12),
      '0'.padEnd(6),
      '0'.padEnd(6),
      '100644'.padEnd(8),
      String(content.length).padEnd(10),
    ]
    return [
      Buffer.from(`${fields.join('')}\`\n`),
      content,
      Buffer.from('\n'.repeat(content.length % 2)),
    ]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}

/** Compresses, without a name, a time or a platform. */
export function compress(content: Uint8Array, level = 9): Buffer {
  const member = gzipSync(content, { level })
  // RFC 1952: the operating system is unknown. zlib would tell which one it runs on.
  member[9] = 255
  return member
}

function tarEntry(path: string, entry: Entry): readonly Uint8Array[] {
  if ('target' in entry) return [tarHeader(path, { mode: 0o777, type: '2', target: entry.target })]
  if ('owner' in entry) return [tarHeader(path, { ...entry, type: '5' })]
  const { content, isProgram = false } = entry
  const mode = isProgram ? 0o755 : 0o644
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
  return [tarHeader(path, { mode, type: '0', size: content.length }), content, padding]
}

interface TarFields {
  readonly mode: number
  readonly type: '0' | '2' | '5'
  readonly size?: number
  readonly target?: string
  readonly owner?: number
}

function tarHeader(path: string, fields: TarFields): Buffer {
  const { mode, type, size = 0, target = '', owner = 0 } = fields
  const header = Buffer.alloc(BLOCK)
  const put = (text: string, at: number, length: number) => {
    const written = header.write(text, at)
    if (written > length) throw new RangeError(`Cannot pack "${path}": its path is too long`)
  }
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  // What is longer than 100 bytes stands in two fields, cut at a slash.
  const cut = path.length > 100 ? path.indexOf('/', path.length - 101) : -1
  put(path.slice(cut + 1), 0, 100)
  put(octal(mode, 7), 100, 8)
  put(octal(owner, 7), 108, 8)
  put(octal(owner, 7), 116, 8)
  put(octal(size, 11), 124, 12)
  put(octal(TIME_S, 11), 136, 12)
  put(' '.repeat(8), 148, 8)
  put(type, 156, 1)
  put(target, 157, 100)
  put('ustar\0' + '00', 257, 8)
  const name = owner === 0 ? 'root' : ''
  put(name, 265, 32)
  put(name, 297, 32)
  put(path.slice(0, Math.max(0, cut)), 345, 155)
  const sum = header.reduce((total, byte) => total + byte, 0)
  put(`${octal(sum, 6)}\0 `, 148, 8)
  return header
}
