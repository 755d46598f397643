/**
 * Bytes in memory instead of on disk, for tests of everything above the storage.
 *
 * @module
 */

import { lstat, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { DomainError } from '../../src/core/domain-error.ts'
import { digestsOf } from '../../src/hashing/content-id.ts'
import type {
  BlobStore,
  BytesToReceive,
  CopiedGroup,
  HashedBlob,
  OpenBlob,
} from '../../src/ports/blob.ts'
import { walkCopied } from '../../src/storage/copied-tree.ts'

/** Keeps what it received in memory. */
export class MemoryBlobStore implements BlobStore {
  readonly #kept = new Set<HashedBlob>()

  /** How many blobs were received and not discarded: a test sees leaks here. */
  get count(): number {
    return this.#kept.size
  }

  async receive(
    source: AsyncIterable<Uint8Array>,
    { declaredSize, maxBytes }: BytesToReceive,
  ): Promise<HashedBlob> {
    if (declaredSize !== undefined && declaredSize > maxBytes) throw tooLarge()
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of source) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge()
      // A copy: the chunk belongs to the source again when it is asked for the next one.
      chunks.push(Uint8Array.from(chunk))
    }
    if (size < (declaredSize ?? 0)) {
      throw new DomainError('UPLOAD_INCOMPLETE', 'Cannot keep the upload: bytes are missing')
    }
    const blob = await this.#blobOf(Buffer.concat(chunks), Date.now(), async () => true)
    this.#kept.add(blob)
    return blob
  }

  async adopt(path: string, signal: AbortSignal): Promise<HashedBlob> {
    signal.throwIfAborted()
    try {
      const { mtimeMs } = await stat(path)
      const isSame = async (): Promise<boolean> => {
        const now = await stat(path).catch(() => undefined)
        return now?.mtimeMs === mtimeMs
      }
      return await this.#blobOf(await readFile(path, { signal }), mtimeMs, isSame)
    } catch (cause) {
      signal.throwIfAborted()
      throw gone(cause)
    }
  }

  async adoptGroup(paths: readonly string[], signal: AbortSignal): Promise<CopiedGroup> {
    const { files, folders, leftOut } = await walkCopied(paths, { signal, maxBytes: Infinity })
    if (files.length + folders.length === 0) {
      throw new DomainError('GROUP_EMPTY', 'Cannot share several files: there are none')
    }
    const zip = new (createRequire(import.meta.url)('yazl').ZipFile)()
    const before = await Promise.all(files.map(({ path }) => describeFile(path)))
    for (const { name } of folders) zip.addEmptyDirectory(name)
    for (const { path, name } of files) zip.addBuffer(await readFile(path), name)
    zip.end()
    const isSame = async (): Promise<boolean> => {
      const now = await Promise.all(files.map(({ path }) => describeFile(path)))
      return now.every((file, index) => file === before[index])
    }
    const blob = await this.#blobOf(await buffer(zip.outputStream), Date.now(), isSame)
    return { blob, leftOut }
  }

  async #blobOf(
    bytes: Uint8Array,
    modifiedAt: number,
    isSame: () => Promise<boolean>,
  ): Promise<HashedBlob> {
    let isDiscarded = false
    const blob: HashedBlob = {
      size: bytes.length,
      modifiedAt,
      digests: await digestsOf(bytes),
      open: async () => {
        if (isDiscarded || !(await isSame())) throw gone()
        return openBytes(bytes)
      },
      discard: async () => {
        isDiscarded = true
        this.#kept.delete(blob)
      },
    }
    return blob
  }
}

/** What tells a file from another one in its place; links are not followed. */
async function describeFile(path: Buffer): Promise<string> {
  const stats = await lstat(path).catch(() => undefined)
  return `${stats?.isFile()} ${stats?.ino} ${stats?.mtimeMs} ${stats?.size}`
}

function openBytes(bytes: Uint8Array): OpenBlob {
  return {
    read: async (target, position) => {
      const piece = bytes.subarray(position, position + target.length)
      target.set(piece)
      return piece.length
    },
    close: async () => undefined,
  }
}

function tooLarge(): DomainError {
  return new DomainError('UPLOAD_TOO_LARGE', 'Cannot keep the upload: it is too large')
}

function gone(cause?: unknown): DomainError {
  return new DomainError('BLOB_GONE', 'Cannot read the bytes: they are gone', { cause })
}
