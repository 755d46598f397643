/**
 * The time of the circle on this daemon: the own clock, and by how much the circle is ahead of it.
 *
 * The difference is kept over a restart, so that a member stamps its items like the others even
 * while it is alone.
 * @module
 */

import { Coalesced } from '../lib/coalesced.ts'
import { isBelievable, MAX_AHEAD_MS, MAX_APART_MS } from '../core/circle-time.ts'
import { decodeNumber, matching, objectOf } from '../lib/decoder.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import type { Clock } from '../lib/clock.ts'
import { parseJson } from '../lib/utf8.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'

/** Its file in the data directory. */
export const MEMBER_FILE = 'member.json'

/** Smaller steps, such as those of clocks that drift apart, are not worth a write. */
const WORTH_KEEPING_MS = 1000

/** From here on the owner may want to set a clock. */
const WORTH_TELLING_MS = 60_000

/** The clock of this machine, and where the difference is kept. */
export interface CircleClockDeps {
  readonly file: PrivateFile
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** The time of the circle. */
export class CircleClock implements CircleTime {
  readonly #deps: CircleClockDeps
  #aheadMs: number
  #keptMs: number
  /** The difference in the last log line. */
  #toldMs: number
  readonly #writing: Coalesced

  private constructor(deps: CircleClockDeps, aheadMs: number) {
    this.#deps = deps
    this.#aheadMs = aheadMs
    this.#keptMs = aheadMs
    this.#toldMs = aheadMs
    this.#writing = new Coalesced(
      () => this.#keep(),
      (error) => {
        // The next step is written again.
        deps.logger.warn(`Cannot write ${MEMBER_FILE}`, { ...describeFailure(error) })
      },
    )
  }

  /** Reads the difference. The next write replaces a file that cannot be read; the log says so. */
  static async open(deps: CircleClockDeps): Promise<CircleClock> {
    return new CircleClock(deps, await readAhead(deps))
  }

  /** By how much the circle is ahead of the clock of this machine. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  now(): number {
    return Math.floor(this.#deps.clock.now() + this.#aheadMs)
  }

  learn(at: number): void {
    const toldMs = Math.floor(at - this.#deps.clock.now())
    // A member that is as far ahead as it can be may have a clock that is a little ahead of ours.
    const aheadMs = Math.min(toldMs, MAX_AHEAD_MS)
    // Also false for what is no number.
    if (!(aheadMs > this.#aheadMs && toldMs <= MAX_AHEAD_MS + MAX_APART_MS)) return
    this.#aheadMs = aheadMs
    if (aheadMs - this.#toldMs > WORTH_TELLING_MS) {
      this.#toldMs = aheadMs
      const seconds = Math.round(aheadMs / 1000)
      this.#deps.logger.info('The clock of another member is ahead of ours', { seconds })
    }
    if (aheadMs - this.#keptMs > WORTH_KEEPING_MS) this.#writing.request()
  }

  readonly believes = (at: number): boolean => isBelievable(at, this.#deps.clock.now())

  /** Resolves when all that was learnt is kept. */
  async close(): Promise<void> {
    await this.#writing.idle()
  }

  async #keep(): Promise<void> {
    const aheadMs = this.#aheadMs
    if (aheadMs - this.#keptMs <= WORTH_KEEPING_MS) return
    // The file has no version.
    await this.#deps.file.write(`${JSON.stringify({ aheadMs })}\n`)
    this.#keptMs = aheadMs
  }
}

async function readAhead({ file, logger }: CircleClockDeps): Promise<number> {
  try {
    const text = await file.read()
    return text === undefined ? 0 : parseMemberFile(text)
  } catch (error) {
    logger.warn(`Cannot read ${MEMBER_FILE}; it is made again`, { ...describeFailure(error) })
    return 0
  }
}

const isAhead = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_AHEAD_MS

const decodeMember = objectOf({
  aheadMs: matching(decodeNumber, isAhead, 'milliseconds, ten years at most'),
})

/**
 * By how many milliseconds the circle is ahead.
 *
 * @throws {TypeError} when the text is not that of such a file, without quoting it.
 */
export function parseMemberFile(text: string): number {
  return decodeMember(parseJson(text)).aheadMs
}
