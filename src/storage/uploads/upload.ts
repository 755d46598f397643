/**
 * One upload, from before its first byte until nothing is left of it. A plain one comes in one
 * piece, and is not kept when that breaks. A resumable one rests then, beside a record.
 * @module
 */

import type { Clock } from '../../lib/clock.ts'
import { describeFailure } from '../../lib/describe-failure.ts'
import { Turns, type OwnTurn } from '../../lib/semaphore.ts'
import type { HashedBlob } from '../../ports/blob.ts'
import type { Logger } from '../../ports/logger.ts'
import type {
  PartialHold,
  PartialUpload,
  ReceivedUpload,
  StagedUpload,
  TakenUpload,
  UploadName,
  UploadSource,
} from '../../ports/staging-area.ts'
import type { DiskBlobStore } from '../blobs/disk-blob-store.ts'
import { isDiskFailure } from '../home/disk-errors.ts'
import type { Allowance, DiskSpace } from '../home/disk-space.ts'
import type { GrowingBlob } from '../blobs/growing-blob.ts'
import { closed, gone, isTooMuch, seized } from './reasons.ts'
import { UploadFacts, type UploadKind, type UploadState } from './upload-facts.ts'
import { OwnRecords, type RecordFolders } from './upload-records.ts'

/** Each has the whole file read and hashed again, for a request of one byte. */
const MAX_TRUNCATIONS = 8

/** The parts that all uploads work with. */
export interface UploadDeps {
  readonly blobs: Pick<DiskBlobStore, 'begin'>
  readonly space: DiskSpace
  readonly records: RecordFolders
  readonly clock: Clock
  readonly logger: Logger
  readonly ttlMs: number
  readonly maxFileBytes: number
  readonly openRoom: (upload: Upload) => Allowance
  /** Makes an upload the newest one. @returns Its number, greater than those of all others. */
  readonly number: (upload: Upload) => number
  /** Lets an upload wait where it was filed, unless a newer one does. */
  readonly place: (upload: Upload) => Promise<void>
  /** Called in the tick in which something else is to be known of an upload. */
  readonly onState: (upload: Upload, before: UploadState) => void
}

/** An upload in the data directory. */
export class Upload extends UploadFacts implements PartialUpload {
  /** Resolves when the upload is gone. */
  readonly ended: Promise<void>
  readonly #deps: UploadDeps
  readonly #records: OwnRecords
  readonly #turns = new Turns()
  #file: GrowingBlob | undefined
  #blob: HashedBlob | undefined
  #truncations = 0
  #isBound = false
  #end: () => void = () => {}

  constructor(deps: UploadDeps, source: UploadSource, kind: UploadKind) {
    super(source, kind, deps.clock.monotonic() + deps.ttlMs)
    this.#deps = deps
    this.#records = new OwnRecords(deps.records, this.token, source)
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get offset(): number {
    if (this.isComplete) return this.length ?? 0
    return this.#blob?.size ?? this.#file?.size ?? 0
  }

  get isHeld(): boolean {
    return this.#turns.isTaken
  }

  get remainingMs(): number {
    const { clock, ttlMs } = this.#deps
    // While bytes may come, whoever reads them sees to it that they do.
    return this.isHeld || this.state === 'coming' ? ttlMs : this.expiresAt - clock.monotonic()
  }

  /** Waits for something that its bytes need. @throws The reason of an interruption. */
  guard<T>(work: Promise<T>): Promise<T> {
    return this.#turns.guard(work)
  }

  /** Receives all bytes at once; nothing is left of them when that fails. */
  async receive(bytes: AsyncIterable<Uint8Array>): Promise<ReceivedUpload> {
    const turn = this.#turns.take()
    try {
      return await this.#work(async (room) => {
        this.#file = await this.#deps.blobs.begin(this.token, { isKept: false })
        await this.#append(room, turn, bytes)
        return this.#finish()
      })
    } finally {
      turn.release()
    }
  }

  /** Makes the file and the record of one that comes in several requests. */
  async begin(): Promise<void> {
    this.#file = await this.#deps.blobs.begin(this.token, { isKept: true })
    this.check()
    this.sequence = this.#deps.number(this)
    this.#become('resting')
    await this.#note()
    this.check()
  }

  /**
   * Takes over what had come before a restart.
   *
   * @param isOfThisBoot Whether its record says so, and of nothing that it is synced.
   */
  async resume(file: GrowingBlob, isOfThisBoot: boolean): Promise<void> {
    this.#file = file
    this.#records.hasPartial = true
    this.#rest()
    if (isOfThisBoot) return
    await this.#note().catch(() => {
      // A full disk keeps nobody from starting; the next boot would give the upload up.
    })
  }

  /** Takes over what had waited before a restart. */
  restore(staged: StagedUpload): void {
    this.staged = staged
    this.#records.hasStaged = true
    this.#blob = staged.blob
    this.held = staged.blob.size
    this.isComplete = this.isResumable
    this.wait()
  }

  async seize(): Promise<PartialHold> {
    for (;;) {
      if (!this.isRemembered) throw this.isClosed ? closed() : (this.reason ?? gone())
      if (!this.isHeld) break
      await this.#turns.interrupt(seized())
    }
    const turn = this.#turns.take()
    return {
      setLength: (length) => this.#setLength(length),
      append: (bytes, onProgress) =>
        this.#work((room) => this.#append(room, turn, bytes, onProgress)),
      truncate: (offset) => this.#work(() => this.#truncate(offset)),
      finish: () => this.#work(() => this.#finish()),
      discard: async () => {
        this.forget()
        await this.end(gone())
      },
      release: () => turn.release(),
    }
  }

  /** Lets it wait for its document; bound, where it was to be while it could not. */
  wait(): void {
    this.#become('waiting')
    if (this.#isBound) void this.bind()
  }

  async bind(): Promise<void> {
    this.#isBound = true
    const { staged } = this
    if (staged === undefined || this.state !== 'waiting' || staged.knownAs !== undefined) return
    this.staged = { ...staged, knownAs: '' }
    await this.#records.bindStaged()
  }

  take(): TakenUpload {
    const { staged } = this
    if (staged === undefined) throw new Error('Cannot take an upload that does not wait')
    this.#become('taken')
    return {
      ...staged,
      release: () => this.#leave(),
      discard: () => this.discard(),
      giveBack: () => {
        void (this.reason === undefined ? this.#deps.place(this) : this.discard())
      },
    }
  }

  /** Answers to its token no more. */
  forget(): void {
    this.isForgotten = true
    this.#become(this.state)
  }

  /**
   * Gives it up for a reason, in this tick. Whoever has it in hand, or writes its file, hears of
   * that and ends it.
   *
   * @returns Settles when it is gone.
   */
  end(reason: Error): Promise<void> {
    this.reason ??= reason
    void this.#turns.interrupt(this.reason)
    const { state } = this
    if (state === 'resting' || state === 'whole' || state === 'waiting') void this.discard()
    return this.ended
  }

  /** Removes it. Called by whoever has it in hand. */
  discard(): Promise<void> {
    this.reason ??= gone()
    return this.#leave(this.#blob ?? this.#file)
  }

  /** Lets go of the file until more bytes come. It is read again then, which may fail as well. */
  closeFile(): void {
    this.#file?.close().catch((error: unknown) => {
      this.#deps.logger.warn('Cannot close the file of an upload', { ...describeFailure(error) })
    })
  }

  /** Lets go of the file; what has come of a resumable one survives a power cut. */
  async close(): Promise<void> {
    if (!this.isResumable || this.isComplete) return this.isPassing ? this.end(closed()) : undefined
    await this.#turns.interrupt(seized())
    const file = this.#file
    if (file === undefined || this.state !== 'resting') return
    try {
      await file.sync()
      await this.#note(file.size)
    } catch {
      // The disk takes nothing: then only a restart of the daemon alone keeps what has come.
    }
    await file.close()
  }

  #become(state: UploadState): void {
    const before = this.state
    this.state = state
    this.#deps.onState(this, before)
  }

  /** Writes the file, with room for more; after that it has as much room as it takes. */
  async #work<T>(write: (room: Allowance) => Promise<T>): Promise<T> {
    this.check()
    if (this.state !== 'coming' && this.state !== 'resting') throw gone()
    this.#become('coming')
    const room = this.#deps.openRoom(this)
    let result: T
    try {
      result = await write(room)
    } catch (error) {
      if (isDiskFailure(error)) this.#deps.space.ranOut(0)
      if (!this.isResumable || isTooMuch(error)) this.reason ??= gone()
      throw error
    } finally {
      if (this.reason === undefined) this.#rest()
      else await this.discard()
      room.release()
    }
    this.check()
    return result
  }

  #rest(): void {
    this.held = this.offset
    if (this.state === 'coming') this.#become('resting')
  }

  #fileOf(): GrowingBlob {
    this.check()
    if (this.#file === undefined) throw gone()
    return this.#file
  }

  async #append(
    room: Allowance,
    turn: OwnTurn,
    bytes: AsyncIterable<Uint8Array>,
    onProgress?: (offset: number) => void,
  ): Promise<void> {
    const { clock, ttlMs, maxFileBytes } = this.#deps
    const file = this.#fileOf()
    const before = file.size
    await file.append({
      bytes: turn.guardAll(bytes),
      length: this.length,
      maxBytes: maxFileBytes,
      allowance: room,
      onProgress: (offset) => {
        if (offset > before) this.expiresAt = clock.monotonic() + ttlMs
        onProgress?.(offset)
      },
      signal: turn.signal,
    })
  }

  async #truncate(offset: number): Promise<void> {
    try {
      this.#truncations += 1
      if (this.#truncations > MAX_TRUNCATIONS) throw gone()
      await this.#fileOf().truncate(offset)
    } catch (error) {
      this.reason ??= gone()
      throw error
    }
  }

  /** Makes a blob of the bytes: no more come. */
  async #finish(): Promise<ReceivedUpload> {
    const blob = await this.#fileOf().finish(this.length)
    this.#deps.space.hadRoom(blob.size)
    this.#blob = blob
    this.#become('whole')
    return {
      blob,
      keep: () => this.#keep(),
      stage: (name) => this.#stage(name, blob),
      release: () => this.#leave(),
      discard: () => this.discard(),
    }
  }

  #keep(): void {
    this.check()
    if (this.state === 'whole') this.#become('kept')
  }

  /** Writes the record of a complete upload; from then on it survives a restart. */
  async #stage(
    { dataName, mediaType, member, knownAs: told }: UploadName,
    blob: HashedBlob,
  ): Promise<StagedUpload> {
    const { clock, ttlMs, number, place } = this.#deps
    if (this.reason !== undefined) await this.discard()
    this.#keep()
    const knownAs = told ?? (this.#isBound ? '' : undefined)
    this.staged = { deviceId: this.source.deviceId, dataName, mediaType, member, knownAs, blob }
    this.sequence = number(this)
    try {
      const { sequence, isResumable } = this
      const facts = { sequence, isResumable, stagedAt: clock.now() }
      await this.#records.writeStaged(this.staged, facts)
    } catch (error) {
      await this.#failToStage(error)
      throw error
    }
    // The device may have been dropped while the record was written.
    if (this.reason !== undefined) await this.discard()
    this.check()
    this.expiresAt = clock.monotonic() + ttlMs
    this.length = blob.size
    this.isComplete = this.isResumable
    await place(this)
    await this.#records.removePartial()
    return this.staged
  }

  /** All bytes of a resumable one stay where they are, and the next request may stage them. */
  async #failToStage(error: unknown): Promise<void> {
    if (isDiskFailure(error)) this.#deps.space.ranOut(0)
    this.staged = undefined
    if (!this.isResumable || this.reason !== undefined) return this.discard()
    this.#blob = undefined
    this.#become('resting')
  }

  async #setLength(length: number): Promise<void> {
    this.check()
    if (this.length === length) return
    this.length = length
    await this.#note()
  }

  /** Writes the record of what has come. @param synced Bytes of it that survive a power cut. */
  #note(synced?: number): Promise<void> {
    return this.#records.writePartial(this.length, this.sequence, synced)
  }

  /** Removes its records, and its bytes where nobody else has them by now. */
  #leave(bytes?: { discard(): Promise<void> }): Promise<void> {
    if (this.state !== 'ending' && this.state !== 'gone') void this.#remove(bytes)
    return this.ended
  }

  async #remove(bytes: { discard(): Promise<void> } | undefined): Promise<void> {
    this.held = 0
    this.#become('ending')
    try {
      await this.#records.remove()
      await bytes?.discard()
    } finally {
      this.#become('gone')
      this.#end()
    }
  }
}
