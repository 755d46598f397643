/**
 * Small versioned files of our own: one JSON object, and the version of its shape.
 *
 * Takes what this version writes and refuses everything else. Messages never quote the file.
 * @module
 */

import { decodeNumber, objectOf, type Decoder } from './decoder.ts'
import { parseJson } from './utf8.ts'

/** The text of one kind of file. */
export interface JsonFile<Value> {
  /** The text of the file, with a line end. */
  format(value: Value): string
  /**
   * Reads the text of a file.
   *
   * @throws {NewerVersionError} when a later version of this program wrote it.
   * @throws {TypeError} saying what is wrong with it.
   */
  parse(text: string | Uint8Array): Value
}

/** A later version of this program wrote the file, and knows what to do with it. */
export class NewerVersionError extends TypeError {
  override readonly name = 'NewerVersionError'

  constructor() {
    super('a newer version of clipgate wrote it')
  }
}

const decodeVersion = objectOf({ version: decodeNumber })

/**
 * Defines a kind of file.
 *
 * @param options.version The version that is written: a whole number from 1.
 * @param options.reads The versions that can be read; only the one that is written, unless given.
 */
export function defineJsonFile<Value extends object>(options: {
  readonly version: number
  readonly reads?: readonly number[]
  readonly decode: Decoder<Value>
}): JsonFile<Value> {
  const { version, reads = [version], decode } = options
  const newest = Math.max(...reads)
  return {
    format: (value) => `${JSON.stringify({ version, ...value })}\n`,
    parse(text) {
      const value = parseJson(text)
      const found = decodeVersion(value).version
      if (reads.includes(found)) return decode(value)
      if (found > newest) throw new NewerVersionError()
      throw new TypeError(`"version" must be ${reads.join(' or ')}`)
    },
  }
}
