/**
 * Parses an event stream as the HTML standard describes it (9.2.6), without any IO.
 *
 * `id` and `retry` are read over: there is no replay to ask for, and when to reconnect is up to the
 * client. An event that the stream ends in is lost, as the standard has it.
 * @module
 */

import { KIB } from '../core/limits.ts'
import { ClientError } from './client-error.ts'

/** In characters. What the protocol sends is shorter by far; the bound is on hostile servers. */
export const MAX_LINE_LENGTH: number = 64 * KIB

/** The longest data of one event, in characters. */
export const MAX_DATA_LENGTH: number = 64 * KIB

/** An event, as soon as it was complete. */
export interface StreamEvent {
  /** `message` when the stream does not say. */
  readonly type: string
  readonly data: string
}

/** The state between two pieces of a stream, which may be cut anywhere. */
export class EventStreamParser {
  /** Takes a byte order mark away, and replaces what is not UTF-8. */
  readonly #decoder = new TextDecoder()
  /** The beginning of a line whose end has not come yet. */
  #line = ''
  #isAfterReturn = false
  #type = ''
  #data: string | undefined;

  /**
   * Takes the next piece. To be iterated to its end before the next one.
   *
   * @returns The events that are complete now.
   * @throws {ClientError} `BAD_ANSWER` for a line, or an event, that is too long. Nothing can be
   *   parsed after that.
   */
  *push(bytes: Uint8Array): Generator<StreamEvent, void> {
    const text = this.#decoder.decode(bytes, { stream: true })
    if (text === '') return
    // A line may end between the two characters of its end.
    const isSplitEnd = this.#isAfterReturn && text.startsWith('\n')
    this.#isAfterReturn = text.endsWith('\r')

    const [first = '', ...others] = (isSplitEnd ? text.slice(1) : text).split(/\r\n|\r|\n/)
    this.#extendLine(first)
    for (const start of others) {
      const event = this.#takeLine(this.#line)
      if (event !== undefined) yield event
      this.#line = ''
      this.#extendLine(start)
    }
  }

  #extendLine(text: string): void {
    this.#line += text
    if (this.#line.length > MAX_LINE_LENGTH) throw tooLong('a line')
  }

  /** @returns The event that the line completes. */
  #takeLine(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    // A comment has an empty name, and like an unknown field says nothing.
    if (name === 'event') this.#type = value
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    if (this.#data !== undefined && this.#data.length > MAX_DATA_LENGTH) throw tooLong('an event')
    return undefined
  }

  #dispatch(): StreamEvent | undefined {
    const [type, data] = [this.#type || 'message', this.#data]
    this.#type = ''
    this.#data = undefined
    return data === undefined ? undefined : { type, data }
  }
}

function tooLong(what: string): ClientError {
  return new ClientError('BAD_ANSWER', { reason: `${what} of the event stream is too long` })
}
