/**
 * What this room uses of the `yazl` package, which has no types of its own, and where it is.
 *
 * The package is optional and CommonJS. It is loaded in the worker only, when a group is copied.
 *
 * @module
 */

import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { DomainError } from '../../core/domain-error.ts'

export interface ZipLibrary {
  readonly ZipFile: new () => ZipFile
}

export interface ZipFile {
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

export interface EntryOptions {
  readonly mtime: Date
  /** With the bits that tell what it is. */
  readonly mode: number
}

/**
 * Looks for the package.
 *
 * @param base Where to look for it from; other places than this file are for tests.
 * @throws {DomainError} `PACKAGE_MISSING`.
 */
export function findZipLibrary(base: string | URL = import.meta.url): void {
  try {
    createRequire(base).resolve('yazl')
  } catch (cause) {
    const message =
      'Cannot share several files: the optional package "yazl" is not installed; npm install yazl'
    throw new DomainError('PACKAGE_MISSING', message, { cause })
  }
}
