/** A partial upload in memory, for tests of everything above the storage. @module */

import { randomBytes } from 'node:crypto'
import { DomainError } from '../../src/core/domain-error.ts'
import { Interruption } from '../../src/lib/interruption.ts'
import type {
  PartialHold,
  PartialUpload,
  ReceivedUpload,
  UploadSource,
} from '../../src/ports/staging-area.ts'
import { defer } from './defer.ts'

interface MemoryPartialUploadOptions {
  readonly maxBytes: number
  /** Receives the whole. */
  readonly receive: (bytes: Uint8Array) => Promise<ReceivedUpload>
  readonly onGone: () => void
}

export class MemoryPartialUpload implements PartialUpload {
  readonly source: UploadSource
  readonly token = randomBytes(16).toString('hex')
  readonly dataName: string
  readonly remainingMs = 3_600_000
  length: number | undefined
  isComplete = false
  readonly #options: MemoryPartialUploadOptions
  #bytes = Buffer.alloc(0)
  #interruption: Interruption | undefined
  #released = Promise.resolve()
  #reason: Error | undefined

  constructor(
    source: UploadSource & { readonly dataName: string },
    options: MemoryPartialUploadOptions,
  ) {
    this.#options = options
    this.source = source
    this.dataName = source.dataName
    this.length = source.declaredSize
  }

  get offset(): number {
    return this.#bytes.length
  }

  async seize(): Promise<PartialHold> {
    while (this.#interruption !== undefined) {
      this.#interruption.interrupt(new DomainError('UPLOAD_SEIZED', 'Cannot go on'))
      await this.#released
    }
    if (this.#reason !== undefined) throw this.#reason
    const interruption = new Interruption()
    this.#interruption = interruption
    const { promise, resolve } = defer<void>()
    this.#released = promise
    return {
      setLength: async (length) => {
        this.length = length
      },
      append: (bytes, onProgress) => this.#append(interruption.guardAll(bytes), onProgress),
      truncate: async (offset) => {
        this.#bytes = this.#bytes.subarray(0, offset)
      },
      finish: () => this.#finish(),
      discard: () => this.end(new DomainError('BLOB_GONE', 'Cannot go on')),
      release: () => {
        this.#interruption = undefined
        resolve()
      },
    }
  }

  async end(reason: Error): Promise<void> {
    this.#reason ??= reason
    this.#interruption?.interrupt(reason)
    this.#options.onGone()
  }

  async #append(
    bytes: AsyncIterable<Uint8Array>,
    onProgress: (offset: number) => void,
  ): Promise<void> {
    for await (const chunk of bytes) {
      const size = this.offset + chunk.length
      const isPastLength = this.length !== undefined && size > this.length
      if (isPastLength || size > this.#options.maxBytes) {
        const code = isPastLength ? 'LENGTH_EXCEEDED' : 'UPLOAD_TOO_LARGE'
        await this.end(new DomainError(code, 'Cannot go on'))
        throw this.#reason
      }
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      onProgress(this.offset)
    }
  }

  async #finish(): Promise<ReceivedUpload> {
    const received = await this.#options.receive(this.#bytes)
    return {
      ...received,
      stage: async (name) => {
        const staged = await received.stage(name)
        this.isComplete = true
        return staged
      },
    }
  }
}
