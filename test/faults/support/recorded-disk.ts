/**
 * What a disk may hold after a power cut, told from what `record-files.js` has written down.
 *
 * A change of a name is on the disk for certain once its folder was synced, and bytes are once
 * their file was; each of the others may be there or not, whatever their order was.
 * @module
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

type NameChange =
  | { readonly kind: 'create' | 'link' | 'unlink'; readonly path: string; readonly file: number }
  | { readonly kind: 'rename'; readonly from: string; readonly path: string; readonly file: number }
  | { readonly kind: 'mkdir'; readonly path: string }

interface Write {
  readonly kind: 'write'
  readonly file: number
  readonly at: number
  /** In base64. */
  readonly bytes: string
}

export interface Answer {
  readonly kind: 'answer'
  readonly method: string
  readonly url: string
  readonly status: number
}

interface Sync {
  readonly kind: 'sync'
  readonly file?: number
  readonly folder?: string
  /** It vouches for the changes before this one. */
  readonly since: number
}

export type Change = NameChange | Write | Answer | Sync

/** What becomes of bytes that were not synced: how much of them, and in what state. */
export type FateOfBytes = 'all' | 'none' | 'first half' | 'zeros' | 'last write'

export const FATES: readonly FateOfBytes[] = ['all', 'none', 'first half', 'zeros', 'last write']

/** What becomes of what was not synced. */
export interface Loss {
  readonly name: string
  keepsName(path: string, index: number): boolean
  fateOf(file: number): FateOfBytes
}

/** Folders and files by path. */
export interface DiskState {
  readonly folders: ReadonlySet<string>
  readonly files: ReadonlyMap<string, Buffer>
}

/** What a disk writes as a whole, or not at all. */
const SECTOR_BYTES = 512

export async function readChanges(log: string): Promise<readonly Change[]> {
  return (await readFile(log, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export class RecordedDisk {
  readonly #root: string
  readonly changes: readonly Change[]
  /** For each change, the sync that made it certain; infinite without one. */
  readonly #certainSince: readonly number[]

  /** @param root The folder in which all of that happened, and which was there before. */
  constructor(root: string, changes: readonly Change[]) {
    this.#root = root
    this.changes = changes
    this.#certainSince = changes.map((change, index) => {
      const at = changes.findIndex((sync) => sync.kind === 'sync' && vouches(sync, change, index))
      return at === -1 ? Infinity : at
    })
  }

  /** Numbers of changes after which a sync, or an answer, had just or had not yet happened. */
  get boundaries(): readonly number[] {
    const cuts = this.changes.flatMap(({ kind }, index) => {
      return kind === 'sync' || kind === 'answer' ? [index, index + 1] : []
    })
    return [...new Set([...cuts, this.changes.length])]
  }

  /** What is there when the power is cut behind the first `cut` changes. */
  stateAfter(cut: number, loss: Loss): DiskState {
    const folders = new Set<string>()
    const names = new Map<string, number>()
    for (const [index, change] of this.changes.slice(0, cut).entries()) {
      if (!('path' in change)) continue
      if (!this.#isCertain(index, cut) && !loss.keepsName(change.path, index)) continue
      if (change.kind === 'mkdir') folders.add(change.path)
      else if (change.kind === 'unlink') names.delete(change.path)
      else names.set(change.path, change.file)
      if (change.kind === 'rename') names.delete(change.from)
    }
    // What is in a folder that is not there is not there either.
    const isThere = (path: string): boolean => {
      const folder = dirname(path)
      return folder === this.#root || (folders.has(folder) && isThere(folder))
    }
    const files = new Map<string, Buffer>()
    for (const [path, file] of names) {
      if (isThere(path)) files.set(path, this.#bytesOf(file, cut, loss.fateOf(file)))
    }
    return { folders: new Set([...folders].filter(isThere)), files }
  }

  #bytesOf(file: number, cut: number, fate: FateOfBytes): Buffer {
    const own = [...this.changes.slice(0, cut).entries()].filter(isOfFile(file))
    const certain = own.filter(([index]) => this.#isCertain(index, cut))
    const pending = own.filter(([index]) => !this.#isCertain(index, cut))
    let bytes: Buffer = Buffer.alloc(0)
    for (const [, change] of certain) bytes = apply(bytes, change)
    if (fate === 'none') return bytes
    const kept = (fate === 'last write' ? pending.slice(-1) : pending).map(([, change]) => change)
    let left = fate === 'first half' ? halfOf(lengthOf(kept)) : Infinity
    for (const change of kept) {
      if (left <= 0) break
      bytes = apply(bytes, fate === 'zeros' ? zeros(change) : change, left)
      left -= lengthOf([change])
    }
    return bytes
  }

  #isCertain(index: number, cut: number): boolean {
    return (this.#certainSince[index] ?? Infinity) < cut
  }
}

/** Puts a state into another place. */
export async function writeState(
  { folders, files }: DiskState,
  from: string,
  to: string,
): Promise<void> {
  const moved = (path: string): string => path.replace(from, to)
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const path of folders) await mkdir(moved(path), { recursive: true, mode: 0o700 })
  for (const [path, bytes] of files) await writeFile(moved(path), bytes, { mode: 0o600 })
}

function vouches({ file, folder, since }: Sync, change: Change, index: number): boolean {
  if (index >= since) return false
  if ('path' in change) return folder === dirname(change.path)
  return change.kind === 'write' && file === change.file
}

function isOfFile(file: number) {
  return (entry: [number, Change]): entry is [number, Write] => {
    const [, change] = entry
    return change.kind === 'write' && change.file === file
  }
}

function apply(bytes: Buffer, change: Write, most = Infinity): Buffer {
  const written = Buffer.from(change.bytes, 'base64').subarray(0, most)
  const whole = Buffer.alloc(Math.max(bytes.length, change.at + written.length))
  bytes.copy(whole)
  written.copy(whole, change.at)
  return whole
}

function halfOf(length: number): number {
  return length / 2 - ((length / 2) % SECTOR_BYTES)
}

function zeros(change: Write): Write {
  return { ...change, bytes: Buffer.alloc(lengthOf([change])).toString('base64') }
}

function lengthOf(writes: readonly Write[]): number {
  return writes.reduce((sum, { bytes }) => sum + Buffer.byteLength(bytes, 'base64'), 0)
}
