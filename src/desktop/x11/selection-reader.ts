/**
 * Asks the owner of a selection for its content and receives the answer, in one piece or in
 * increments (ICCCM, 2.4 and 2.7.2).
 *
 * What is given up (it is too long, too slow, or overtaken by a newer copy) goes on to arrive;
 * it is then deleted unread, so that its owner comes to its end and is not left waiting.
 * @module
 */

import { MIB } from '../../core/limits.ts'
import { GrowingBuffer } from '../../lib/growing-buffer.ts'
import type { Clock } from '../../lib/clock.ts'
import { CopyTooLarge } from '../clipboard-errors.ts'
import { startPace } from '../transfer-pace.ts'
import type { ConversionAnswer, SelectionEvent, XConnection } from './x-connection.ts'

interface Conversion {
  readonly target: number
  /** Server time of the event that made us ask. */
  readonly time: number
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** How long an owner may take for an answer, and for each increment. */
const ANSWER_MS = 2000

/**
 * Conversions take turns on these, so that a late answer to one that was given up is not taken
 * for the answer to another: it would have to be ten copies late.
 */
const TRANSFER_PROPERTIES = 64

/** How much of a property is fetched at once. */
const PART_BYTES: number = MIB

/** An answer in increments begins with a lower bound of its size. */
const SIZE_BYTES = 4

/** A property that is waited for. */
interface Claim {
  readonly property: number
  readonly target: number
  readonly time: number
  /** The property of the answer, 0 when it was refused; `undefined` before it. */
  answer: number | undefined
  /** Whether something is in the property. */
  isWritten: boolean
  wake: () => void
}

/** Reads the selection from the program that owns it. */
export class SelectionReader {
  readonly #connection: XConnection
  readonly #clock: Clock
  /** The atoms of {@link TRANSFER_PROPERTIES} properties. */
  readonly #properties: readonly number[]
  readonly #claims = new Map<number, Claim>()
  #turn = 0

  static async open(connection: XConnection, clock: Clock): Promise<SelectionReader> {
    const names = Array.from({ length: TRANSFER_PROPERTIES }, (_, n) => `CLIPGATE_TRANSFER_${n}`)
    const properties = await Promise.all(names.map((name) => connection.internAtom(name)))
    return new SelectionReader(connection, clock, properties)
  }

  private constructor(connection: XConnection, clock: Clock, properties: readonly number[]) {
    this.#connection = connection
    this.#clock = clock
    this.#properties = properties
  }

  handle(event: SelectionEvent): void {
    if (event.kind === 'converted') {
      const claim = [...this.#claims.values()].find((candidate) => isAnswer(event, candidate))
      if (claim === undefined) return
      claim.answer = event.property
      claim.wake()
    }
    if (event.kind !== 'property' || event.window !== this.#connection.window) return
    const claim = this.#claims.get(event.property)
    if (claim !== undefined) {
      claim.isWritten = !event.isDeleted
      claim.wake()
    } else if (!event.isDeleted && this.#properties.includes(event.property)) {
      this.#connection.deleteProperty(event.property)
    }
  }

  /**
   * The content in one format; `undefined` when the owner refuses.
   *
   * @throws {CopyTooLarge} Past `maxBytes`.
   * @throws {Error} When the owner does not answer; `signal.reason` when aborted. The message is
   *   for people.
   */
  async convert(conversion: Conversion): Promise<Uint8Array | undefined> {
    const connection = this.#connection
    const { target, time, signal, maxBytes } = conversion
    signal.throwIfAborted()
    const claim = this.#claim(target, time)
    try {
      connection.deleteProperty(claim.property)
      connection.convertClipboard(target, claim.property, time)
      await this.#until(claim, () => claim.answer !== undefined, signal)
      if (claim.answer === 0) return undefined
      const taken = await this.#take(claim.property, maxBytes, 0)
      if (taken.type === 0) return undefined
      if (taken.type !== connection.atom('INCR')) return taken.bytes
      const least = taken.bytes.length < SIZE_BYTES ? 0 : taken.bytes.readUInt32LE()
      if (least > maxBytes) throw new CopyTooLarge({ maxBytes, size: least })
      return await this.#takeIncrements(claim, maxBytes, signal)
    } finally {
      this.#claims.delete(claim.property)
      // Starts what is given up: see the top.
      connection.deleteProperty(claim.property)
    }
  }

  async #takeIncrements(claim: Claim, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
    const taken = new GrowingBuffer()
    const checkPace = startPace(this.#clock)
    for (;;) {
      await this.#until(claim, () => claim.isWritten, signal)
      const { bytes } = await this.#take(claim.property, maxBytes, taken.filled.length)
      if (bytes.length === 0) return taken.filled
      taken.append(bytes)
      checkPace(taken.filled.length)
    }
  }

  /**
   * Fetches a property whole, and deletes it in the same step in which its end was read.
   *
   * @param before How many bytes came before it.
   * @throws {CopyTooLarge} When they are more than `maxBytes` together.
   */
  async #take(property: number, maxBytes: number, before: number) {
    const connection = this.#connection
    const parts: Buffer[] = []
    for (let offset = 0; ; ) {
      const part = { offset, length: PART_BYTES, isDeleting: true }
      const { type, data, bytesAfter } = await connection.getProperty(
        connection.window,
        property,
        part,
      )
      offset += data.length
      const size = before + offset + bytesAfter
      if (size > maxBytes) throw new CopyTooLarge({ maxBytes, size })
      parts.push(data)
      if (bytesAfter === 0) return { type, bytes: parts.length === 1 ? data : Buffer.concat(parts) }
    }
  }

  #claim(target: number, time: number): Claim {
    const property = this.#properties[this.#turn++ % TRANSFER_PROPERTIES] ?? 0
    const state = { answer: undefined, isWritten: false, wake: () => undefined }
    const claim: Claim = { property, target, time, ...state }
    this.#claims.set(property, claim)
    return claim
  }

  #until(claim: Claim, isReady: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel()
        signal.removeEventListener('abort', abort)
        claim.wake = () => undefined
      }
      const abort = (): void => {
        stop()
        reject(signal.reason)
      }
      const cancel = this.#clock.after(ANSWER_MS, () => {
        stop()
        reject(new Error('The program that owns the clipboard does not answer'))
      })
      signal.addEventListener('abort', abort)
      claim.wake = () => {
        if (!isReady()) return
        stop()
        resolve()
      }
      if (signal.aborted) abort()
      else claim.wake()
    })
  }
}

/** A refusal names no property; the owner repeats the time that it was asked with, or none. */
function isAnswer(event: ConversionAnswer, claim: Claim): boolean {
  if (event.property !== 0) return event.property === claim.property
  return event.target === claim.target && [0, claim.time].includes(event.time)
}
