/** Reads secrets and texts from stdin. @module */

import { KIB, MAX_METADATA_BYTES } from '../core/limits.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import { CommandError } from './command.ts'
import { complain, type Shell } from './shell.ts'

/** Links and passwords are shorter. */
const MAX_LINE_BYTES: number = 64 * KIB

const NEWLINE = 0x0a

/** The beginning of a connect link, also of one that was damaged: that is no text to push. */
const LINK_START = /^\s*[^\s/]*:\/+connect\?/i

/** Damage that is longer is none of a link. */
const LINK_START_BYTES = 256

/** Lets `use` read stdin, and then lets go of it: an open pipe would keep the program alive. */
export async function withInput<Result>(
  shell: Shell,
  use: (input: Input) => Promise<Result>,
): Promise<Result> {
  const input = new Input(shell)
  try {
    return await use(input)
  } finally {
    shell.stdin.destroy()
  }
}

/** Reads stdin, from its beginning to its end. */
export class Input {
  readonly #shell: Shell
  readonly #chunks: AsyncIterator<unknown>
  #rest: Buffer = Buffer.alloc(0)

  constructor(shell: Shell) {
    this.#shell = shell
    this.#chunks = shell.stdin[Symbol.asyncIterator]()
  }

  /** Whether a person types it. */
  get isTerminal(): boolean {
    return this.#shell.stdin.isTTY === true
  }

  /** Whether a connect link stands at the beginning, which is still to be read then. */
  async startsWithLink(): Promise<boolean> {
    if (this.isTerminal) return false
    const isOpen = () => this.#rest.length < LINK_START_BYTES && !this.#rest.includes(NEWLINE)
    while (isOpen() && (await this.#readMore())) continue
    return LINK_START.test(this.#rest.subarray(0, LINK_START_BYTES).toString('latin1'))
  }

  /**
   * The next line, without its end.
   *
   * @param what Names it for the person at the terminal, and in errors: `connect link`.
   * @throws {CommandError} when there is none.
   */
  async readLine(what: string): Promise<string> {
    if (this.isTerminal) complain(this.#shell, `Type or paste the ${what}, then Enter:`)
    let end = this.#rest.indexOf(NEWLINE)
    while (end === -1 && this.#rest.length <= MAX_LINE_BYTES && (await this.#readMore())) {
      end = this.#rest.indexOf(NEWLINE)
    }
    if (end === -1) end = this.#rest.length
    const line = decode(this.#rest.subarray(0, end), what).replace(/\r$/, '')
    if (end > MAX_LINE_BYTES)
      throw new CommandError(`Cannot read the ${what}: the line is too long`)
    if (line === '')
      throw new CommandError(`Cannot read the ${what}: there is none on stdin; pipe it there`)
    this.#rest = this.#rest.subarray(end + 1)
    return line
  }

  /**
   * Everything that was not read yet, as text.
   *
   * @throws {CommandError} when it is more than a text item may be, or not UTF-8.
   */
  async readText(): Promise<string> {
    if (this.isTerminal) complain(this.#shell, 'Type the text, then Ctrl-D:')
    const chunks = [this.#rest]
    let size = this.#rest.length
    this.#rest = Buffer.alloc(0)
    while (await this.#readMore()) {
      chunks.push(this.#rest)
      size += this.#rest.length
      this.#rest = Buffer.alloc(0)
      if (size > MAX_METADATA_BYTES) {
        const problem = `it is longer than ${MAX_METADATA_BYTES} bytes; push a file`
        throw new CommandError(`Cannot push the text: ${problem}`)
      }
    }
    return decode(Buffer.concat(chunks, size), 'text')
  }

  async #readMore(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done === true) return false
    const chunk = Buffer.isBuffer(value) ? value : Buffer.from(String(value))
    this.#rest = Buffer.concat([this.#rest, chunk])
    return true
  }
}

function decode(bytes: Buffer, what: string): string {
  try {
    return decodeUtf8(bytes)
  } catch {
    throw new CommandError(`Cannot read the ${what}: it is not UTF-8`)
  }
}
