/**
 * An upload that is not staged yet, and what was set aside for it: its bytes are coming, or they
 * wait for the end of their form. Until it is kept it may be interrupted.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { Interruption } from '../lib/interruption.ts'
import type { UploadName, UploadSource } from '../ports/staging-area.ts'
import type { Allowance } from './allowance.ts'
import type { DiskBlob } from './disk-blob.ts'
import type { DiskSpace } from './disk-space.ts'

/** The name may come after the bytes. */
export type Expected = UploadSource & Partial<UploadName>

/** What an upload lacks, in bytes. */
export interface Needs {
  readonly quota: number
  readonly disk: number
}

/** Of whoever shares the room out. */
export interface UnderWayOptions {
  readonly space: DiskSpace
  /** @returns How much of the quota there is for it: at least so many bytes, or nothing. */
  readonly take: (bytes: number) => number
  /**
   * Makes room, or some of it.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  readonly makeRoom: (needs: Needs) => Promise<void>
  /** Takes back bytes of the quota. */
  readonly giveBack: (bytes: number) => void
  readonly onReleased: () => void
}

export class UploadUnderWay implements Allowance {
  readonly expected: Expected
  /** Resolves when it has been released. */
  readonly ended: Promise<void>
  /** It will give back what it has. */
  isEnding = false
  readonly #options: UnderWayOptions
  readonly #interruption = new Interruption()
  #quota = 0
  #disk: Allowance | undefined
  #blob: DiskBlob | undefined
  #reason: Error | undefined
  #isKept = false
  #isReleased = false
  #end: () => void = () => {}

  constructor(expected: Expected, options: UnderWayOptions) {
    this.expected = expected
    this.#options = options
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Of the quota. */
  get held(): number {
    return this.#quota
  }

  get bytes(): number {
    return Math.min(this.#quota, this.#disk?.bytes ?? 0)
  }

  /** Its bytes, until it is interrupted. */
  guard(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return this.#interruption.guardAll(bytes)
  }

  /** It gives way to others who need its room. */
  get isExpendable(): boolean {
    return !this.#isKept
  }

  /** Ends it, also while it waits for bytes or for room, or for the end of its form. */
  interrupt(reason: Error): void {
    if (this.#reason !== undefined) return
    this.isEnding = true
    this.#reason = reason
    this.#interruption.interrupt(reason)
    if (this.#blob !== undefined) void this.discard()
  }

  /**
   * All of its bytes have come: it needs no more room than they take.
   *
   * @throws The reason of the interruption, when it came first; nothing is left of the bytes then.
   */
  async complete(blob: DiskBlob): Promise<void> {
    this.#blob = blob
    if (this.#reason !== undefined) await this.discard()
    this.#check()
    this.#disk?.release()
    this.#options.giveBack(this.#quota - blob.size)
    this.#quota = blob.size
  }

  /**
   * From now on it gives way to nobody.
   *
   * @throws The reason of the interruption, when it came first.
   */
  keep(): void {
    this.#check()
    this.#isKept = true
  }

  /** Removes its bytes, and ends it then. */
  async discard(): Promise<void> {
    await this.#blob?.discard()
    this.release()
  }

  grow(bytes: number): Promise<void> {
    return this.#interruption.guard(this.#grow(bytes))
  }

  wrote(bytes: number): void {
    this.#disk?.wrote(bytes)
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#disk?.release()
    this.#options.giveBack(this.#quota)
    this.#quota = 0
    this.#options.onReleased()
    this.#end()
  }

  #check(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  async #grow(bytes: number): Promise<void> {
    while (!this.#takeQuota(bytes) || !(await this.#takeDisk(bytes))) {
      const disk = bytes - (this.#disk?.bytes ?? 0)
      await this.#options.makeRoom({ quota: Math.max(0, bytes - this.#quota), disk })
      // Nobody waits for it any more.
      if (this.isEnding || this.#isReleased) return
    }
  }

  #takeQuota(bytes: number): boolean {
    if (this.#quota >= bytes) return true
    const taken = this.#options.take(bytes - this.#quota)
    this.#quota += taken
    return taken > 0
  }

  async #takeDisk(bytes: number): Promise<boolean> {
    const { space } = this.#options
    try {
      if (this.#disk === undefined)
        this.#disk = await space.allow(bytes, this.expected.declaredSize)
      else await this.#disk.grow(bytes)
      // It was ended while the disk was asked.
      if (this.#isReleased) this.#disk.release()
      return true
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NO_SPACE') return false
      throw error
    }
  }
}
