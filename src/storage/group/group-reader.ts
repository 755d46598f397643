/**
 * Reads an archive that is nowhere: frame and files, put together as they are asked for.
 *
 * Reads from anywhere cost the same. One file is open at a time. Each file is compared with what it
 * was before and after every piece of it.
 *
 * @module
 */

import type { FileHandle } from 'node:fs/promises'
import { SerialQueue } from '../../lib/serial-queue.ts'
import type { OpenBlob } from '../../ports/blob.ts'
import { gone, isSameFile, openCopiedFile, readFileState } from '../disk-blob.ts'
import type { GroupFile, GroupList } from './group-list.ts'

export class GroupReader implements OpenBlob {
  readonly #list: GroupList
  readonly #onClose: () => void
  /** Where the frame goes on at the start of each file. */
  readonly #framePositions: readonly number[]
  readonly #queue = new SerialQueue()
  #opened: { readonly file: GroupFile; readonly handle: FileHandle } | undefined
  #isClosed = false

  /** @param onClose Called once. */
  constructor(list: GroupList, onClose: () => void) {
    this.#list = list
    this.#onClose = onClose
    let inFiles = 0
    this.#framePositions = list.files.map(({ start, identity }) => {
      const position = start - inFiles
      inFiles += identity.size
      return position
    })
  }

  /** Reads that come at once are answered one after the other. */
  read(target: Uint8Array, position: number): Promise<number> {
    return this.#queue.run(() => this.#read(target, position))
  }

  close(): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#isClosed) return
      this.#isClosed = true
      try {
        await this.#closeFile()
      } finally {
        this.#onClose()
      }
    })
  }

  async #read(target: Uint8Array, position: number): Promise<number> {
    const end = Math.min(position + target.length, this.#list.size)
    for (let at = position; at < end; ) {
      at += await this.#readPiece(target.subarray(at - position, end - position), at)
    }
    return Math.max(0, end - position)
  }

  /** Fills `target` up to where the frame or the file ends. */
  async #readPiece(target: Uint8Array, position: number): Promise<number> {
    const { files, frame } = this.#list
    const index = this.#lastFileAt(position)
    const file = files[index]
    const fileEnd = file === undefined ? 0 : file.start + file.identity.size
    if (file !== undefined && position < fileEnd) {
      const count = Math.min(target.length, fileEnd - position)
      await this.#readFile(file, target.subarray(0, count), position - file.start)
      return count
    }
    const from = position - fileEnd + (this.#framePositions[index] ?? 0)
    const piece = frame.subarray(from, this.#framePositions[index + 1]).subarray(0, target.length)
    target.set(piece)
    return piece.length
  }

  /** Index of the last file that begins there or before; -1 when none does. */
  #lastFileAt(position: number): number {
    const { files } = this.#list
    let low = 0
    let high = files.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((files[middle]?.start ?? Infinity) <= position) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  async #readFile(file: GroupFile, target: Uint8Array, position: number): Promise<void> {
    const handle = await this.#openFile(file)
    for (let at = 0; at < target.length; ) {
      const { bytesRead } = await handle.read(target, at, target.length - at, position + at)
      if (bytesRead === 0) throw gone('a file has become shorter')
      at += bytesRead
    }
    // Whoever writes a file in place is found out before its bytes are handed out.
    await check(file, handle)
    if (position + target.length === file.identity.size) await this.#closeFile()
  }

  async #openFile(file: GroupFile): Promise<FileHandle> {
    if (this.#opened?.file === file) return this.#opened.handle
    await this.#closeFile()
    const handle = await openCopiedFile(file.path)
    // Closed with this reader, also when it is not the file that it should be.
    this.#opened = { file, handle }
    await check(file, handle)
    return handle
  }

  async #closeFile(): Promise<void> {
    const { handle } = this.#opened ?? {}
    this.#opened = undefined
    await handle?.close()
  }
}

async function check({ identity }: GroupFile, handle: FileHandle): Promise<void> {
  const state = await readFileState(handle)
  if (!state.isFile || !isSameFile(identity, state.identity)) throw gone('a file has changed')
}
