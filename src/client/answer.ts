/** Reads answers, and never more of them than they may have. @module */

import { KIB } from '../core/limits.ts'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { ClientError } from './client-error.ts'
import type { FetchedResponse } from './server.ts'
import type { Watchdog } from './watchdog.ts'

/** The first room for an answer. */
const LEAST_BYTES: number = 16 * KIB

/** An answer whose body nobody has read yet. The reader closes the watchdog. */
export interface Answer {
  readonly response: FetchedResponse
  readonly watchdog: Watchdog
}

/** An answer has a dozen values; thousands would take more memory than their bytes. */
const MAX_JSON_VALUES = 1000

/** JSON may spell a byte of text with six. */
const MAX_ESCAPED = 6

const TOO_LONG = 'too long'

const QUOTE = 0x22
const COMMA = 0x2c
const NINE = 0x39
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b

/**
 * Reads the body as JSON.
 *
 * @param limit The most bytes that it may have, with each escape as the character that it spells.
 * @throws {ClientError} `BAD_ANSWER` when it is longer, see {@link isTooLong}, or no JSON in UTF-8;
 *   `TIMEOUT` when it comes too slowly, see {@link isTooSlow}.
 */
export async function readJson(answer: Answer, limit: number): Promise<unknown> {
  const bytes = await readBytes(answer, limit)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // The message quotes the text.
    throw new ClientError('BAD_ANSWER', { reason: 'not JSON in UTF-8' })
  }
}

/** The error for an answer that is longer than allowed. Asking again would not help. */
export function tooLong(): ClientError {
  return new ClientError('BAD_ANSWER', { reason: TOO_LONG })
}

/** Whether an answer, or a text in it, was too long. */
export function isTooLong(error: unknown): error is ClientError {
  return error instanceof ClientError && error.code === 'BAD_ANSWER' && error.reason === TOO_LONG
}

/** Cancels the body, which nobody wants, and so frees the connection. */
export async function discard({ response, watchdog }: Answer): Promise<void> {
  watchdog.close()
  // The body is not needed any more, so its failure does not matter.
  await response.body?.cancel().catch(() => undefined)
}

async function readBytes({ response, watchdog }: Answer, limit: number): Promise<Uint8Array> {
  const length = Number(response.headers.get('Content-Length') ?? 0)
  // Doubled on the way, a long one would be in memory twice.
  const collected = new GrowingBuffer(LEAST_BYTES, Math.min(length || 0, MAX_ESCAPED * limit))
  const meter = new JsonMeter()
  const reader = response.body?.getReader()
  if (reader === undefined) return collected.filled
  let size = 0
  try {
    for (;;) {
      const { value: chunk } = await watchdog.waitForPart(reader.read(), size)
      if (chunk === undefined) return collected.filled
      size += chunk.byteLength
      if (size > MAX_ESCAPED * limit) throw tooLong()
      meter.add(chunk)
      if (meter.size > limit) throw tooLong()
      if (meter.values > MAX_JSON_VALUES) {
        throw new ClientError('BAD_ANSWER', { reason: `more than ${MAX_JSON_VALUES} values` })
      }
      collected.append(chunk)
      reader.free?.(chunk)
    }
  } finally {
    // At the end of the body, this does nothing; before it, the body is not needed any more.
    await reader.cancel().catch(() => undefined)
  }
}

/**
 * Measures JSON while it comes, so that what would cost too much is never parsed: an escape spells
 * one character in up to six bytes, and three bytes can be a value that takes a hundred in memory.
 *
 * Takes the bytes of one JSON text, cut anywhere. The size of anything else has no meaning.
 */
export class JsonMeter {
  /** Bytes so far, with each escape as long as the character is in UTF-8. */
  size = 0
  /** Values so far, nested ones included; empty lists and objects count as two. */
  values = 1
  #isText = false
  #isEscape = false
  /** Hex digits of an escape that are still to come. */
  #digits = 0
  /** The value of the digits so far. */
  #unit = 0

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#digits > 0) {
        this.#addDigit(bytes[at] ?? 0)
        at += 1
      } else if (this.#isEscape) {
        this.#isEscape = false
        if (bytes[at] === LETTER_U) {
          this.#digits = 4
          this.#unit = 0
        }
        at += 1
      } else {
        at = this.#isText ? this.#addText(bytes, at) : this.#addOther(bytes, at)
      }
    }
  }

  #addDigit(byte: number): void {
    // The last four bits of a letter are 1 to 6, those of a digit are its value.
    this.#unit = this.#unit * 16 + (byte & 15) + (byte > NINE ? 9 : 0)
    this.#digits -= 1
    // The backslash has been counted. Half of a surrogate pair is half of four bytes.
    if (this.#digits === 0) this.size += lengthOf(this.#unit) - 1
  }

  /** @returns Where the text, or the part of it that has no escapes, ends. */
  #addText(bytes: Uint8Array, start: number): number {
    let at = start
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte !== BACKSLASH && byte !== QUOTE) continue
      this.#isEscape = byte === BACKSLASH
      this.#isText = byte === BACKSLASH
      at += 1
      break
    }
    this.size += at - start
    return at
  }

  /** @returns Where a text begins. */
  #addOther(bytes: Uint8Array, start: number): number {
    let at = start
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) this.values += 1
      if (byte !== QUOTE) continue
      this.#isText = true
      at += 1
      break
    }
    this.size += at - start
    return at
  }
}

/** Bytes of a UTF-16 code unit in UTF-8. */
function lengthOf(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
}
