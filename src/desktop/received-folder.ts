/**
 * The folder where pushed files land.
 *
 * A file appears whole and under a name of its own: nothing that is there is ever replaced, and no
 * link is followed. The folder is made private (0700), because what a phone sends is; the files in
 * it get the mode of every new file, because they are the user's, and stay usual when moved out. A
 * folder that belongs to somebody else is not used, nor one that others lead us to.
 *
 * Files are synced to the disk: the bytes that they were made from are given up then. Those are
 * copied, since whoever changes a file that is linked would change the item; they leave as much of
 * the disk free as uploads do.
 * @module
 */

import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, readdir, unlink, type FileHandle } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Item } from '../core/item.ts'
import { MIB } from '../core/limits.ts'
import { essenceOf } from '../core/media-type.ts'
import type { Blob, BlobMember } from '../ports/blob.ts'
import type { DiskRoom, ReserveRoom } from '../ports/disk-room.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { ImageFile, OfferedContent } from '../ports/system-clipboard.ts'
import { makePrivateFolders, syncFolder } from '../lib/atomic-file.ts'
import { findUntrusted, statsOf } from '../lib/find-untrusted.ts'
import { Lru } from '../lib/lru.ts'
import { blocksOf } from '../lib/read-bytes.ts'
import { numberedName, safeFileName } from '../lib/safe-file-name.ts'
import { saveUnderFreeName, UNFINISHED } from '../lib/save-under-free-name.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { hasCode } from '../lib/system-error.ts'
import { saveInTurn } from '../lib/user-files.ts'
import { markOrigin } from './mark-origin.ts'

const BLOCK_BYTES: number = MIB

/** An unfinished file that nobody wrote to for so long was left by a program that was killed. */
const ABANDONED_MS: number = 24 * 60 * 60 * 1000

/** Hex digits of the mark of a writer, as unfinished files have it. */
const MARK_DIGITS = 8

/**
 * Files of one name and size that are read again for a new one: others must not cause more. They
 * are the last ones, which is what a kill leaves saved and not noted.
 */
const MAX_COMPARED = 8

/** A person with more files of one name has another problem. */
const MAX_NUMBER = 10_000

/** Files whose bytes are known, so that they are not read again for each push of the same item. */
const MAX_KNOWN = 64

const NO_ROOM_NEEDED: DiskRoom = { wrote: () => undefined, release: () => undefined }

interface ReceivedFolderOptions {
  /** Asked before a file is written. */
  readonly reserve?: ReserveRoom
  /**
   * Tells who writes here, one program at a time: what has its mark was left by an earlier run.
   * Without it only what is a day old is known to be left.
   */
  readonly writer?: string
}

/** The folder, which is made when it is needed. */
export class ReceivedFolder {
  readonly path: string
  readonly #reserve: ReserveRoom
  readonly #flights = new SingleFlight<string, string>()
  /** SHA-256 by path and state. */
  readonly #known = new Lru<string, string>(MAX_KNOWN)
  readonly #mark: string | undefined
  readonly #closing = new AbortController()
  readonly #steps = new Subscribers()
  /** The sweep of this run: nothing is written before its end. */
  #swept: Promise<void> | undefined

  constructor(path: string, options: ReceivedFolderOptions = {}) {
    const { reserve = async () => NO_ROOM_NEEDED, writer } = options
    this.path = resolve(path)
    this.#reserve = reserve
    this.#mark = writer && createHash('sha256').update(writer).digest('hex').slice(0, MARK_DIGITS)
  }

  /** Removes what an earlier run left unfinished, where the folder is there. */
  sweep(): Promise<void> {
    return saveInTurn(async () => {
      await refuseForeign(this.path)
      if ((await statsOf(this.path)) !== undefined) await this.#sweep()
    })
  }

  /** Calls `listener` for each block that is written. @returns Ends the subscription. */
  onStep(listener: () => void): () => void {
    return this.#steps.add(listener)
  }

  /** Breaks off what is being written, and writes nothing more. */
  close(): void {
    this.#closing.abort(new Error('Cannot save the file: the folder is closed'))
  }

  /**
   * Writes a file, under `dataName` or a name like it. A file of that name that has the bytes of
   * `sha256` is used again.
   *
   * @returns Its absolute path.
   * @throws {Error} When another user controls the folder or the way to it.
   * @throws The error of the failing system call, or of the blob; nothing is left then.
   */
  save(blob: Blob, dataName: string, { sha256 }: { sha256?: string } = {}): Promise<string> {
    const name = safeFileName(dataName, process.platform)
    if (sha256 === undefined) return this.#save(blob, name, undefined)
    // One copy at a time is enough when the same file is sent again and again.
    return this.#flights.run(`${sha256} ${name}`, () => this.#save(blob, name, sha256))
  }

  /**
   * Returns what other programs can paste of an item. Files are saved first, an image when a
   * program asks for it as a file, or before it is offered where no program can ask.
   */
  async offerOf({ item, blob }: StoredItem): Promise<OfferedContent> {
    if (blob === undefined) return { kind: 'text', text: item.text }
    if (item.type !== 'Image') return { kind: 'files', paths: await this.keep({ item, blob }) }
    const file = lateFile(() => this.#saveItem(item, blob))
    // Programs ask for a type by its plain name.
    return { kind: 'image', mediaType: essenceOf(item.mediaType), blob, file }
  }

  /** As {@link offerOf}, without saving files: `undefined` when not all are here as they came. */
  async offerKept(stored: StoredItem): Promise<OfferedContent | undefined> {
    const { item, blob } = stored
    if (blob === undefined || item.type === 'Image') return this.offerOf(stored)
    const members = blob.members ?? [{ dataName: item.dataName, blob }]
    const paths = await saveInTurn(() => this.#find(members))
    return paths && { kind: 'files', paths }
  }

  /** Where files are that have these names and bytes: all of them, or `undefined`. */
  async #find(members: readonly BlobMember[]): Promise<readonly string[] | undefined> {
    await refuseForeign(this.path)
    const paths = new Set<string>()
    for (const { dataName, blob } of members) {
      const name = safeFileName(dataName, process.platform)
      const { isSame, path } = await this.#firstFree(name, blob.size, blob.digests.sha256)
      if (!isSame) return undefined
      paths.add(path)
    }
    return [...paths]
  }

  /**
   * Writes the files that an item is: those of a Group that came in several uploads, and not their
   * archive. They survive a power cut.
   *
   * @returns Their absolute paths, each once.
   * @throws As {@link save}; those before the one that fails are there.
   */
  async keep(stored: StoredItem): Promise<readonly string[]> {
    const paths = await this.#keep(stored)
    if (paths.length === 0) return paths
    // Their names; the bytes were synced one by one.
    await saveInTurn(() => syncFolder(this.path)).catch((error: unknown) => {
      // Some file systems over a network sync files only.
      if (!hasCode(error, 'EINVAL', 'ENOTSUP')) throw error
    })
    return paths
  }

  async #keep({ item, blob }: StoredItem): Promise<readonly string[]> {
    if (blob?.members === undefined) return blob ? [await this.#saveItem(item, blob)] : []
    const paths = new Set<string>()
    // The next item gives the archive up, and its files stay until whoever has it open is done.
    const archive = await blob.open()
    try {
      for (const { dataName, blob: member } of blob.members) {
        paths.add(await this.save(member, dataName, { sha256: member.digests.sha256 }))
      }
    } finally {
      await archive.close()
    }
    return [...paths]
  }

  #saveItem({ dataName, contentHash: sha256 }: Item, blob: Blob): Promise<string> {
    return this.save(blob, dataName, { sha256 })
  }

  #save(blob: Blob, name: string, sha256: string | undefined): Promise<string> {
    return saveInTurn(() => this.#write(blob, name, sha256))
  }

  async #write(blob: Blob, name: string, sha256: string | undefined): Promise<string> {
    await this.#prepare()
    const first = await this.#firstFree(name, blob.size, sha256)
    if (first.isSame) return first.path
    const room = await this.#reserve(blob.size, this.path)
    try {
      const wanted = { folder: this.path, name, from: first.number, to: MAX_NUMBER }
      this.#closing.signal.throwIfAborted()
      const path = await saveUnderFreeName({ ...wanted, mark: this.#mark }, (file) =>
        this.#copy(blob, file, room),
      )
      if (path === undefined) {
        throw new Error('Cannot save the file: too many files have its name')
      }
      await markOrigin(path)
      if (sha256 !== undefined) await this.#remember(path, sha256)
      return path
    } finally {
      room.release()
    }
  }

  async #copy(blob: Blob, file: FileHandle, room: DiskRoom): Promise<void> {
    let written = 0
    for await (const block of blocksOf(blob, { blockSize: BLOCK_BYTES })) {
      this.#closing.signal.throwIfAborted()
      await file.writeFile(block)
      room.wrote(block.length)
      this.#steps.notify()
      written += block.length
    }
    if (written < blob.size) throw new Error('Cannot save the file: bytes are missing')
    await file.sync()
  }

  async #remember(path: string, sha256: string): Promise<void> {
    const stats = await statsOf(path)
    if (stats !== undefined) this.#known.set(stateOf(path, stats), sha256)
  }

  async #prepare(): Promise<void> {
    // Before anything is made where a link of somebody else leads, and again for what was made.
    await refuseForeign(this.path)
    if ((await statsOf(this.path)) === undefined) await makePrivateFolders(this.path)
    await refuseForeign(this.path)
    await this.#sweep()
  }

  async #sweep(): Promise<void> {
    this.#swept ??= this.#removeUnfinished()
    try {
      await this.#swept
    } catch (error) {
      this.#swept = undefined
      throw error
    }
  }

  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.path)) {
      const mark = UNFINISHED.exec(name)?.[1]
      if (mark === undefined) continue
      const path = join(this.path, name)
      if (mark === this.#mark || (await isAbandoned(path))) await unlinkLeft(path)
    }
  }

  /** The first number whose name is free, or the file that has the bytes already. */
  async #firstFree(name: string, size: number, sha256: string | undefined) {
    const alike: { readonly number: number; readonly path: string; readonly state: string }[] = []
    for (let number = 1; ; number += 1) {
      const path = join(this.path, numberedName(name, number))
      const found = await statsOf(path)
      if (found === undefined || number === MAX_NUMBER) {
        const same = sha256 === undefined ? undefined : await this.#findSame(alike, sha256)
        return { ...(same ?? { number, path }), isSame: same !== undefined }
      }
      if (!found.isFile() || found.size !== size) continue
      alike.push({ number, path, state: stateOf(path, found) })
    }
  }

  /** The last of some files that has these bytes, of those that are known or may be read again. */
  async #findSame<Place extends { readonly path: string; readonly state: string }>(
    places: readonly Place[],
    sha256: string,
  ): Promise<Place | undefined> {
    let compared = 0
    for (const place of places.toReversed()) {
      const { path, state } = place
      if (this.#known.get(state) === undefined) {
        if (compared === MAX_COMPARED) continue
        compared += 1
      }
      if ((await this.#hash(path, state)) === sha256) return place
    }
    return undefined
  }

  async #hash(path: string, state: string): Promise<string | undefined> {
    const hash = this.#known.get(state) ?? (await hashFile(path, this.#closing.signal))
    if (hash !== undefined) this.#known.set(state, hash)
    return hash
  }
}

function lateFile(save: () => Promise<string>): ImageFile {
  let path: string | undefined
  return {
    get path() {
      return path
    },
    // Again each time: the file may have been moved away or changed since.
    save: async () => (path = await save()),
  }
}

/** @throws {Error} When another user controls a folder, or the way to it. */
async function refuseForeign(path: string): Promise<void> {
  const untrusted = await findUntrusted(path)
  if (untrusted === undefined) return
  throw new Error(`Cannot save the file: ${untrusted.path} ${untrusted.reason}; set --received-dir`)
}

/** Whoever writes to the file, or replaces it, makes it another one. */
function stateOf(path: string, { ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs} ${path}`
}

/** SHA-256 of a file; `undefined` when it cannot be read to its end before it is aborted. */
async function hashFile(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    const hash = createHash('sha256')
    try {
      // Whoever wrote it may have been killed before. Windows syncs nothing that is only read.
      if (process.platform !== 'win32') await file.sync()
    } catch (error) {
      await file.close()
      throw error
    }
    const chunks = file.createReadStream({ highWaterMark: BLOCK_BYTES })
    for await (const chunk of chunks) {
      if (signal.aborted) return undefined
      hash.update(chunk)
    }
    return hash.digest('hex')
  } catch {
    // Not ours, or gone by now: the new file gets a name of its own.
    return undefined
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await statsOf(path)
  return found !== undefined && Date.now() - found.mtimeMs >= ABANDONED_MS
}

async function unlinkLeft(path: string): Promise<void> {
  // A second daemon may sweep the same folder, and what stays does no harm.
  await unlink(path).catch(() => undefined)
}
