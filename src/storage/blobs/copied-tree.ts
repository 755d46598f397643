/**
 * Finds what there is below copied files and folders, within limits, and names it for an archive.
 *
 * Follows no links, also none that takes the place of a folder meanwhile: what they lead to was not
 * copied. Opens no file.
 *
 * A name stays as it is wherever it can. What would be a path somewhere, or could not be printed,
 * becomes `_`, and names that are equal then are numbered.
 * @module
 */

import type { BigIntStats } from 'node:fs'
import { lstat, opendir, realpath } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
import { toDataName } from '../../core/item.ts'
import { DomainError } from '../../core/domain-error.ts'
import { MAX_GROUP_DEPTH, MAX_GROUP_ENTRIES, MAX_GROUP_NAME_BYTES } from '../../core/limits.ts'
import { numberedName } from '../../lib/safe-file-name.ts'
import { isShortage } from '../../lib/system-error.ts'
import { type Look, turnsAt } from '../../lib/user-files.ts'
import type { LeftOut } from '../../ports/blob.ts'
import { listWithoutLinks } from './without-links.ts'

/** A file, or what looked like one: whoever opens it makes sure that no link leads there. */
export interface TreeFile {
  /** A path without links in it. */
  readonly path: Buffer
  /** The relative name, with `/` between segments. */
  readonly name: string
}

/** A folder. It has an entry of its own: some programs know by that alone that it was copied. */
export interface TreeFolder extends TreeFile {
  /** Unix milliseconds. */
  readonly modifiedAt: number
  readonly mode: number
}

/** The files and folders that were found, both sorted by name. */
export interface CopiedTree {
  readonly files: readonly TreeFile[]
  readonly folders: readonly TreeFolder[]
  readonly leftOut: LeftOut
}

/** The limit of a walk, and how it is ended. */
export interface WalkOptions {
  /** The most bytes that all files together, and their archive, may have. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Something in a folder, or one of the things that were copied together. */
interface NamedPath {
  /** The path as the system spells it, which need not be UTF-8. */
  readonly path: Buffer
  readonly fileName: Buffer
}

/** On Windows `C:x` is a path, and one that does not begin here. */
const DRIVE = /^([a-z]):/i

/** Replaces what is not UTF-8 by U+FFFD. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

const SEPARATOR: Buffer = Buffer.from(sep)

/**
 * Walks through everything that was copied.
 *
 * @throws {DomainError} `GROUP_TOO_LARGE`, saying which limit.
 * @throws `signal.reason` when aborted.
 */
export async function walkCopied(
  paths: readonly string[],
  options: WalkOptions,
): Promise<CopiedTree> {
  const places = new Set(paths.map((path) => resolve(path)))
  const [first = ''] = places
  // Files that are copied together take their turns together.
  const look = turnsAt(first, options.signal)
  const roots: NamedPath[] = []
  for (const path of places) roots.push(await look(() => toRoot(path)))
  const walk = new Walk(options, look)
  for (const root of nameSiblings(roots)) await walk.visit(root, 1)
  return walk.tree()
}

/** A copied path may lead through links; its last segment is not followed. */
async function toRoot(path: string): Promise<NamedPath> {
  const name = Buffer.from(basename(path))
  const folder = await readable(realpath(dirname(path), { encoding: 'buffer' }))
  if (folder === undefined || name.length === 0) return { path: Buffer.from(path), fileName: name }
  return { path: childOf(folder, name), fileName: name }
}

function tooLarge(limit: string): DomainError {
  return new DomainError('GROUP_TOO_LARGE', `Cannot share several files: ${limit}`)
}

class Walk {
  readonly #options: WalkOptions
  readonly #look: Look
  readonly #files: TreeFile[] = []
  readonly #folders: TreeFolder[] = []
  #seen = 0
  #bytes = 0n
  #unreadable = 0
  #special = 0

  constructor(options: WalkOptions, look: Look) {
    this.#options = options
    this.#look = look
  }

  tree(): CopiedTree {
    return {
      files: this.#files.sort(byName),
      folders: this.#folders.sort(byName),
      leftOut: { unreadable: this.#unreadable, special: this.#special },
    }
  }

  /** @param depth Counts the segments of its name. */
  async visit({ path, name }: TreeFile, depth: number): Promise<void> {
    const { signal, maxBytes } = this.#options
    signal.throwIfAborted()
    this.#seen += 1
    if (this.#seen > MAX_GROUP_ENTRIES) throw tooManyEntries()
    if (depth > MAX_GROUP_DEPTH) throw tooLarge(`folders in more than ${MAX_GROUP_DEPTH} folders`)
    if (Buffer.byteLength(name) > MAX_GROUP_NAME_BYTES) {
      throw tooLarge(`a relative name of more than ${MAX_GROUP_NAME_BYTES} bytes`)
    }
    const stats = await this.#look(() => readable(lstat(path, { bigint: true })))
    if (stats === undefined) {
      this.#unreadable += 1
    } else if (stats.isDirectory()) {
      await this.#visitFolder({ path, name }, stats, depth)
    } else if (stats.isFile()) {
      this.#bytes += stats.size
      if (this.#bytes > maxBytes) throw tooLarge(`more than ${maxBytes} bytes`)
      this.#files.push({ path, name })
    } else {
      this.#special += 1
    }
  }

  async #visitFolder({ path, name }: TreeFile, stats: BigIntStats, depth: number): Promise<void> {
    const children = await this.#look(() =>
      readable(listWithoutLinks(path, (opened) => this.#list(opened, path))),
    )
    if (children === undefined) {
      this.#unreadable += 1
      return
    }
    const { mtimeMs, mode } = stats
    this.#folders.push({ path, name, modifiedAt: Number(mtimeMs), mode: Number(mode) })
    for (const child of nameSiblings(children)) {
      await this.visit({ path: child.path, name: `${name}/${child.name}` }, depth + 1)
    }
  }

  /** @param opened Another path of the same folder. */
  async #list(opened: Buffer, path: Buffer): Promise<readonly NamedPath[]> {
    const children: NamedPath[] = []
    // Names as bytes: not all of them are UTF-8.
    const folder = await opendir(opened, { encoding: 'buffer' as BufferEncoding })
    for await (const entry of folder) {
      const fileName: unknown = entry.name
      if (!Buffer.isBuffer(fileName))
        throw new TypeError('Cannot list a folder: names are no bytes')
      children.push({ path: childOf(path, fileName), fileName })
      // A folder with a million names must not be collected first.
      if (this.#seen + children.length > MAX_GROUP_ENTRIES) throw tooManyEntries()
    }
    return children
  }
}

function childOf(folder: Buffer, name: Buffer): Buffer {
  const isRoot = folder.subarray(-SEPARATOR.length).equals(SEPARATOR)
  return Buffer.concat(isRoot ? [folder, name] : [folder, SEPARATOR, name])
}

/** The order of an archive. */
export function byName(a: TreeFile, b: TreeFile): number {
  return a.name < b.name ? -1 : 1
}

function tooManyEntries(): DomainError {
  return tooLarge(`more than ${MAX_GROUP_ENTRIES} files and folders`)
}

/** `undefined` when the system refuses: people copy folders that are not theirs in every part. */
async function readable<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    const isRefusal = error instanceof Error && 'syscall' in error && !isShortage(error)
    if (isRefusal) return undefined
    throw error
  }
}

/** Gives siblings names that differ; the same ones each time, whatever their order was. */
export function nameSiblings(siblings: readonly NamedPath[]): readonly TreeFile[] {
  const wanted = siblings
    .map(({ path, fileName }) => ({ path, ...toEntryName(fileName) }))
    // A name that needs no change is kept.
    .sort((a, b) => Number(a.isChanged) - Number(b.isChanged) || Buffer.compare(a.path, b.path))
  return numberNames(wanted)
}

/** Gives things that were uploaded together names that differ: equal ones are numbered in order. */
export function nameMembers(members: readonly NamedPath[]): readonly TreeFile[] {
  return numberNames(
    members.map(({ path, fileName }) => ({ path, name: toEntryName(fileName).name })),
  )
}

function numberNames(wanted: readonly TreeFile[]): readonly TreeFile[] {
  const taken = new Set<string>()
  const numbers = new Map<string, number>()
  return wanted.map(({ path, name }) => {
    let number = numbers.get(name) ?? 1
    while (taken.has(numberedName(name, number))) number += 1
    numbers.set(name, number + 1)
    const free = numberedName(name, number)
    taken.add(free)
    return { path, name: free }
  })
}

function toEntryName(fileName: Buffer): { readonly name: string; readonly isChanged: boolean } {
  const name = toDataName(utf8.decode(fileName)).replace(DRIVE, '$1_')
  return { name, isChanged: !Buffer.from(name).equals(fileName) }
}
