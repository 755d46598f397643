/**
 * This side of `zip-worker.js`: has the archive of copied files made once, to hash it.
 *
 * The worker is there for one group, and ended when nobody waits for it any more.
 *
 * @module
 */

import { Worker } from 'node:worker_threads'
import type { Digests } from '../../core/digests.ts'
import { DomainError } from '../../core/domain-error.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { CopiedTree } from './copied-tree.ts'

/** What the worker is started with. */
export interface ZipTask {
  readonly files: readonly { readonly path: Uint8Array; readonly name: string }[]
  /** They come first in the archive. */
  readonly folders: readonly {
    readonly name: string
    readonly modifiedAt: number
    readonly mode: number
  }[]
  /** The largest archive. */
  readonly maxBytes: number
}

/** A file that is not empty, as it was while it was hashed. */
export interface ZippedFile {
  /** In the task. */
  readonly index: number
  /** Where its bytes begin in the archive. */
  readonly start: number
  readonly size: number
  readonly ino: bigint
  readonly dev: bigint
  readonly mtimeNs: bigint
}

export interface ZippedArchive {
  readonly size: number
  /** The archive without the bytes of the files. */
  readonly frame: Uint8Array
  readonly files: readonly ZippedFile[]
  readonly digests: Digests
}

/** What the worker posts; one of the two, or none when there was nothing to put into it. */
export interface ZipAnswer {
  readonly archive?: ZippedArchive
  readonly failure?: { readonly code: 'BLOB_GONE' | 'GROUP_TOO_LARGE'; readonly message: string }
  /** How many of the files could not be read. */
  readonly unreadable: number
}

export interface ZipOptions {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * Makes the archive once.
 *
 * @returns Without an archive when there was nothing to put into it.
 * @throws {DomainError} `BLOB_GONE`, `GROUP_TOO_LARGE`.
 * @throws `signal.reason` when aborted.
 */
export async function zipOnce(
  { files, folders }: CopiedTree,
  { maxBytes, signal }: ZipOptions,
): Promise<ZipAnswer> {
  signal.throwIfAborted()
  const task: ZipTask = { files, folders, maxBytes }
  const entry = new URL('./zip-worker.js', import.meta.url)
  const worker = new Worker(entry, { workerData: task })
  let abort = (): void => undefined
  try {
    const answer = await new Promise<ZipAnswer>((resolve, reject) => {
      abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort)
      worker.on('message', resolve)
      worker.on('error', (cause) => reject(failed(cause)))
      worker.on('exit', () => reject(new Error('Cannot make the archive: the worker ended')))
    })
    const { failure } = answer
    if (failure !== undefined) throw new DomainError(failure.code, failure.message)
    return answer
  } finally {
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}

/** Without its message, which may name a file. */
function failed(cause: unknown): Error {
  const reason = codeOf(cause) ?? (cause instanceof Error ? cause.name : typeof cause)
  return new Error(`Cannot make the archive: the worker failed (${reason})`, { cause })
}
