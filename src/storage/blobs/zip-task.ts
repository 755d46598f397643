/** Types of the tasks of workers that make archives and read them, and of their answers. @module */

import type { Readable } from 'node:stream'
import type { Digests } from '../../core/content-id.ts'
import type { TreeFolder } from './copied-tree.ts'
import type { FileState } from './disk-blob.ts'

/** The task that `zip-worker.js` is started with. */
export interface ZipTask {
  readonly files: readonly { readonly path: Uint8Array; readonly name: string }[]
  /** Folders come first in the archive. */
  readonly folders: readonly Pick<TreeFolder, 'name' | 'modifiedAt' | 'mode'>[]
  /** The largest archive, in bytes. */
  readonly maxBytes: number
}

/** A file that is not empty, as it was while it was hashed. */
export type ZippedFile = FileState['identity'] & {
  readonly index: number
  /** Where its bytes begin in the archive. */
  readonly start: number
}

interface ZippedArchive {
  readonly size: number
  /** The archive without the bytes of the files. */
  readonly frame: Uint8Array
  readonly files: readonly ZippedFile[]
  readonly digests: Digests
  /** See `group-hash.js`. */
  readonly groupHash: string
}

/** Its answer: an archive, a failure, or neither when nothing was there to put in. */
export interface ZipAnswer {
  readonly archive?: ZippedArchive
  readonly failure?: { readonly code: 'BLOB_GONE' | 'GROUP_TOO_LARGE'; readonly message: string }
  readonly unreadable: number
}

/** The task that `unzip-worker.js` is started with: an archive that came. */
export interface UnzipTask {
  readonly path: string
  /** An archive with more entries, or with more bytes in them, is not read. */
  readonly maxEntries: number
  readonly maxBytes: number
  /** Nor is one with folders in more folders, or with more characters in all names together. */
  readonly maxDepth: number
  readonly maxNamesLength: number
}

/** Its answer: the hash of what programs unpack, where all of them unpack the same. */
export interface UnzipAnswer {
  readonly groupHash?: string
}

/** The part of the package `yazl` that is used. */
export interface ZipLibrary {
  readonly ZipFile: new () => ZipFile
}

interface ZipFile {
  readonly outputStream: NodeJS.ReadableStream
  on(event: 'error', listener: (error: unknown) => void): this
  addEmptyDirectory(name: string, options: EntryOptions): void
  addReadStreamLazy(
    name: string,
    options: EntryOptions & { readonly compress: false; readonly size: number },
    getStream: (callback: (error: undefined, stream: Readable) => void) => void,
  ): void
  end(): void
}

interface EntryOptions {
  readonly mtime: Date
  /** With the bits that tell what it is. */
  readonly mode: number
}
