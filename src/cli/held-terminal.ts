/** A terminal that holds up nobody, also while a person holds it up (Ctrl-S). @module */

import { constants, openSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { systemClock } from '../lib/clock.ts'
import { countOf } from '../lib/count-of.ts'
import { codeOf, hasCode } from '../lib/system-error.ts'
import type { Screen } from './shell.ts'

/** The most bytes that wait for a terminal which took a part. */
const MAX_WAITING = 4 * 1024

const RETRY_MS = 250

/**
 * The same terminal for a program that must go on. Node writes to terminals in one go and waits
 * for as long as they take nothing: while one is held, or an `ssh` behind it hangs. Here what does
 * not fit is left out, and counted. On Linux, where a terminal can be opened again; other screens,
 * and terminals that are not the user's own, are given back as they are.
 */
export function neverHolding(screen: Screen): Writable {
  if (process.platform !== 'linux' || screen.isTTY !== true || screen.fd === undefined)
    return screen
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    return new HeldTerminal(openSync(`/dev/fd/${screen.fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY))
  } catch (error) {
    // As after "su", whose terminal is that of somebody else.
    if (codeOf(error) === undefined) throw error
    return screen
  }
}

class HeldTerminal extends Writable {
  readonly #fd: number
  #waiting = Buffer.alloc(0)
  #leftOut = 0
  #cancelRetry: (() => void) | undefined

  constructor(fd: number) {
    super()
    this.#fd = fd
  }

  override _write(line: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#waiting.length + line.length > MAX_WAITING || this.#leftOut > 0) this.#leftOut += 1
    else this.#waiting = Buffer.concat([this.#waiting, line])
    this.#show()
    done()
  }

  #show(): void {
    this.#cancelRetry?.()
    if (this.#take() && this.#leftOut > 0) {
      this.#waiting = Buffer.from(`(${countOf(this.#leftOut, 'line')} left out)\n`)
      this.#leftOut = 0
      this.#take()
    }
    if (this.#waiting.length === 0) return
    this.#cancelRetry = systemClock.after(RETRY_MS, () => this.#show())
  }

  /** @returns Whether the terminal has taken all that waited. */
  #take(): boolean {
    try {
      this.#waiting = this.#waiting.subarray(writeSync(this.#fd, this.#waiting))
    } catch (error) {
      // A terminal that went away takes nothing any more, and there is nobody left to tell.
      if (!hasCode(error, 'EAGAIN')) this.#waiting = Buffer.alloc(0)
    }
    return this.#waiting.length === 0
  }
}
