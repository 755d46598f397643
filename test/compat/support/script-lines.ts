/**
 * The lines of a fixture, one after the other, with their numbers.
 *
 * @module
 */

import { ScriptError } from './client-script.ts'
import { parseTemplate, type Template } from './template.ts'

export class ScriptLines {
  readonly file: string
  readonly #lines: readonly string[]
  /** Number of the line that was read last. */
  line = 0

  constructor(file: string, text: string) {
    this.file = file
    const lines = text.split('\n')
    // The end of the last line begins no other one.
    this.#lines = lines.at(-1) === '' ? lines.slice(0, -1) : lines
    const odd = this.#lines.findIndex((line) => line.includes('\r'))
    if (odd !== -1) throw new ScriptError(file, odd + 1, 'a fixture has bare line feeds')
  }

  /** The next line, which stays where it is. */
  peek(): string | undefined {
    return this.#lines[this.line]
  }

  next(): string {
    const line = this.#lines[this.line]
    if (line === undefined) throw this.error('the file ends too early')
    this.line++
    return line
  }

  /** The lines from here on that begin with two spaces, without them. */
  indented(): readonly string[] {
    const found: string[] = []
    while (this.peek()?.startsWith('  ') === true) found.push(this.next().slice(2))
    return found
  }

  error(reason: string): ScriptError {
    return new ScriptError(this.file, this.line, reason)
  }

  template(text: string): Template {
    try {
      return parseTemplate(text)
    } catch (error) {
      throw this.error(error instanceof Error ? error.message : String(error))
    }
  }
}
