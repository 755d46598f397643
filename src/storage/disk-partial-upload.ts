/** One upload that comes in several requests, and who works on it. @module */

import { DomainError } from '../core/domain-error.ts'
import type { Clock } from '../lib/clock.ts'
import { Interruption } from '../lib/interruption.ts'
import type {
  BatchMember,
  PartialHold,
  PartialSource,
  PartialUpload,
  ReceivedUpload,
} from '../ports/staging-area.ts'
import { isDiskFailure } from './disk-errors.ts'
import type { DiskBlob } from './disk-blob.ts'
import type { DiskSpace } from './disk-space.ts'
import type { GrowingBlob } from './growing-blob.ts'
import { credentialOf, type PartialRecord, type UploadRecords } from './staging-records.ts'
import type { UploadUnderWay } from './staging-room.ts'

/** Called when an upload that is whole was to be staged. */
export interface AfterStaging {
  /** Called when it is. */
  readonly staged?: () => Promise<void>
  /** Called when it is not, before the reason is thrown. */
  readonly failed: (error: unknown) => Promise<void>
}

interface PartialUploadParts {
  readonly source: PartialSource
  readonly underWay: UploadUnderWay
  readonly blob: GrowingBlob
  readonly sequence: number
  readonly space: DiskSpace
  readonly records: UploadRecords<PartialRecord>
  readonly clock: Clock
  readonly ttlMs: number
  readonly maxFileBytes: number
  readonly receive: (upload: UploadUnderWay, blob: DiskBlob, after: AfterStaging) => ReceivedUpload
  /** Called when nobody works on it any more. */
  readonly onRest: () => void
  /** Called in the tick in which it is given up. */
  readonly onGone: () => void
}

/** A partial upload in the data directory. */
export class DiskPartialUpload implements PartialUpload {
  readonly parts: PartialUploadParts
  #length: number | undefined
  #size: number | undefined
  #touchedAt: number
  #holder: Holder | undefined
  #reason: Error | undefined
  /** The record that is being written; nobody removes it before. */
  #noted: Promise<void> = Promise.resolve()

  constructor(parts: PartialUploadParts) {
    this.parts = parts
    this.#length = parts.source.length
    this.#touchedAt = parts.clock.monotonic()
  }

  get source(): PartialSource {
    return this.parts.source
  }

  get token(): string {
    return this.parts.blob.name
  }

  get dataName(): string {
    return this.source.dataName
  }

  get contentType(): string | undefined {
    return this.source.contentType
  }

  get member(): BatchMember | undefined {
    return this.source.member
  }

  get offset(): number {
    return this.#size ?? this.parts.blob.size
  }

  /** The bytes that rest; see {@link UploadUnderWay.rest}. */
  get size(): number {
    return this.parts.blob.size
  }

  get length(): number | undefined {
    return this.#length
  }

  get sha256(): string | undefined {
    return this.source.sha256
  }

  get isComplete(): boolean {
    return this.#size !== undefined
  }

  get isHeld(): boolean {
    return this.#holder !== undefined
  }

  get isOpen(): boolean {
    return !this.isComplete && this.#reason === undefined
  }

  get remainingMs(): number {
    const { clock, ttlMs } = this.parts
    // While bytes may come, whoever reads them sees to it that they do.
    return this.isHeld ? ttlMs : this.#touchedAt + ttlMs - clock.monotonic()
  }

  async seize(): Promise<PartialHold> {
    for (;;) {
      this.checkIsThere()
      const before = this.#holder
      if (before === undefined) break
      before.interrupt(seized())
      await before.released
    }
    const holder = new Holder()
    this.#holder = holder
    return {
      setLength: (length) => this.#setLength(length),
      append: (bytes, onProgress) => this.#append(holder, bytes, onProgress),
      truncate: (offset) => this.#truncate(offset),
      finish: () => this.#finish(),
      discard: () => this.end(gone()),
      release: () => {
        this.#holder = undefined
        holder.release()
        this.parts.onRest()
      },
    }
  }

  /** Gives it up for a reason, in this tick. @returns Settles when nothing is left of it. */
  async end(reason: Error): Promise<void> {
    const { underWay, onGone } = this.parts
    this.#reason ??= reason
    onGone()
    if (this.isComplete) return
    this.#holder?.interrupt(reason)
    underWay.interrupt(reason)
    await underWay.ended
  }

  /** Removes what has come. Called once nobody reads or writes it any more. */
  async discard(): Promise<void> {
    const { blob, records, onGone } = this.parts
    this.#reason ??= gone()
    onGone()
    await this.#noted.catch(() => undefined)
    await records.remove(this.token)
    await blob.discard()
  }

  /** Writes the record. @throws {DomainError} `NO_SPACE`; the reason for which it was given up. */
  async note(synced?: number): Promise<void> {
    this.checkIsThere()
    const { source, sequence, records } = this.parts
    const { deviceId, passwordHash, dataName, contentType, sha256, member } = source
    const credential = credentialOf(passwordHash)
    const what = {
      deviceId,
      credential,
      dataName,
      contentType,
      length: this.#length,
      sha256,
      member,
    }
    this.#noted = records.write(this.token, { ...what, synced, sequence })
    await this.#noted
  }

  /** Lets go of the file; what has come survives a power cut. */
  async close(): Promise<void> {
    const { blob } = this.parts
    if (this.isComplete) return
    this.#holder?.interrupt(seized())
    await this.#holder?.released
    if (!this.isOpen) return
    try {
      await blob.sync()
      await this.note(blob.size)
    } catch {
      // The disk takes nothing: then only a restart of the daemon alone keeps what has come.
    }
    await blob.close()
  }

  /** @throws The reason for which it was given up. */
  checkIsThere(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  async #setLength(length: number): Promise<void> {
    if (this.#length === length) return
    this.#length = length
    await this.note()
  }

  async #append(
    holder: Holder,
    bytes: AsyncIterable<Uint8Array>,
    onProgress: (offset: number) => void,
  ): Promise<void> {
    const { underWay, blob, space, maxFileBytes, clock } = this.parts
    underWay.resume(this.#length)
    const { interruption, signal } = holder
    const before = blob.size
    const touch = (offset: number): void => {
      if (offset > before) this.#touchedAt = clock.monotonic()
      onProgress(offset)
    }
    try {
      await blob.append({
        bytes: interruption.guardAll(underWay.guard(bytes)),
        length: this.#length,
        maxBytes: maxFileBytes,
        allowance: underWay,
        onProgress: touch,
        signal,
      })
    } catch (error) {
      if (isDiskFailure(error)) space.ranOut(0)
      if (isTooMuch(error)) underWay.interrupt(error)
      throw error
    } finally {
      await underWay.rest(this)
    }
  }

  async #truncate(offset: number): Promise<void> {
    const { underWay, blob } = this.parts
    underWay.resume(this.#length)
    try {
      await blob.truncate(offset)
      await underWay.rest(this)
    } catch (error) {
      await underWay.rest(this)
      await this.end(gone())
      throw error
    }
  }

  async #finish(): Promise<ReceivedUpload> {
    const { underWay, blob, space, receive, records } = this.parts
    // All bytes stay where they are, and the next request may stage them.
    const failed = async (error: unknown): Promise<void> => {
      if (isDiskFailure(error)) space.ranOut(0)
      await underWay.rest(this)
    }
    underWay.resume(this.#length)
    let whole: DiskBlob
    try {
      whole = await blob.finish()
    } catch (error) {
      await failed(error)
      throw error
    }
    await underWay.complete({ size: whole.size, discard: () => this.discard() })
    space.hadRoom(whole.size)
    const staged = async (): Promise<void> => {
      this.#length = whole.size
      this.#size = whole.size
      await records.remove(this.token)
    }
    return receive(underWay, whole, { staged, failed })
  }
}

/** Whoever works on an upload. */
class Holder {
  readonly interruption = new Interruption()
  readonly #abort = new AbortController()
  /** Resolves when somebody else may work on it. */
  readonly released: Promise<void>
  release: () => void = () => {}

  constructor() {
    this.released = new Promise((resolve) => {
      this.release = resolve
    })
  }

  /** Aborted with the interruption. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  interrupt(reason: Error): void {
    this.interruption.interrupt(reason)
    this.#abort.abort(reason)
  }
}

function isTooMuch(error: unknown): error is DomainError {
  if (!(error instanceof DomainError)) return false
  return error.code === 'LENGTH_EXCEEDED' || error.code === 'UPLOAD_TOO_LARGE'
}

function seized(): DomainError {
  return new DomainError('UPLOAD_SEIZED', 'Cannot go on with the upload: another request did')
}

function gone(): DomainError {
  return new DomainError('BLOB_GONE', 'Cannot go on with the upload: it was given up')
}
