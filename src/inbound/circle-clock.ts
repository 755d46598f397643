/**
 * The time of the circle on this daemon: the own clock, and by how much the circle is ahead of it.
 *
 * While it runs, the time goes on over steps of the own clock. Where others are ahead, it is kept
 * six times an hour and at the end: a start goes on from there, also for a member that is alone,
 * and by the time for which the machine is known to have run since.
 * @module
 */

import { uptime as systemUptime } from 'node:os'
import { Coalesced } from '../lib/coalesced.ts'
import { isBelievable, MAX_AHEAD_MS, MAX_APART_MS } from '../core/circle-time.ts'
import { decodeNumber, matching, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import type { Clock } from '../lib/clock.ts'
import { parseJson } from '../lib/utf8.ts'
import type { CircleTime } from '../ports/circle-time.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'

/** Its file in the data directory. */
export const MEMBER_FILE = 'member.json'

/** Smaller steps are drift, or what macOS rounds: its uptime has whole seconds. */
const STEP_MS = 2000

/** Smaller moves between two looks are no sleep, however short. */
const DRIFT_MS = 100

/** Smaller changes, such as those of clocks that drift apart, are not worth a write. */
const WORTH_KEEPING_MS = 1000

/** So much of it a power cut takes at most, where others are ahead and it is asked for. */
const KEPT_EACH_MS = 600_000

/** From here on the owner may want to set a clock. */
const WORTH_TELLING_MS = 60_000

/** The clock of this machine, and where the difference is kept. */
export interface CircleClockDeps {
  readonly file: PrivateFile
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Seconds since the machine started, with those that it slept; that of the system by default. */
  readonly uptime?: () => number
  readonly logger: Logger
}

/** The time of the circle. */
export class CircleClock implements CircleTime {
  readonly #deps: CircleClockDeps
  /** By how much others are ahead of the own clock as it was before it was set back. */
  #learntMs: number
  #keptMs: number
  /** The time of the circle in the file. */
  #keptAt = -Infinity
  /** By how much the own clock was set back. Not kept: it may begin ahead at each boot. */
  #backMs = 0
  /** The own clock less the monotonic one. */
  #offsetMs: number
  /** Grows by what the machine sleeps. */
  #sleptMs: number
  /** The difference in the last log line. */
  #toldMs: number
  readonly #writing: Coalesced

  private constructor(deps: CircleClockDeps, aheadMs: number) {
    this.#deps = deps
    this.#learntMs = aheadMs
    this.#keptMs = aheadMs
    this.#toldMs = aheadMs
    this.#offsetMs = this.#measureOffset()
    this.#sleptMs = this.#measureSleep()
    this.#writing = new Coalesced(
      () => this.#keep(),
      (error) => {
        // The next change is written again.
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
    this.#followSteps()
    return this.#learntMs + this.#backMs
  }

  now(): number {
    const at = Math.floor(this.aheadMs + this.#deps.clock.now())
    if (this.#isOld(at)) this.#writing.request()
    return at
  }

  learn(at: number): void {
    const toldMs = Math.floor(at - this.#deps.clock.now())
    // A member that is as far ahead as it can be may have a clock that is a little ahead of ours.
    const aheadMs = Math.min(toldMs, MAX_AHEAD_MS)
    // Also false for what is no number.
    if (!(aheadMs > this.aheadMs && toldMs <= MAX_AHEAD_MS + MAX_APART_MS)) return
    this.#learntMs = aheadMs - this.#backMs
    // A member that moves it on and on makes as many lines as it can double.
    if (this.#learntMs > 2 * this.#toldMs + WORTH_TELLING_MS) {
      this.#toldMs = this.#learntMs
      const seconds = Math.round(this.#learntMs / 1000)
      this.#deps.logger.info('The clock of another member is ahead of ours', { seconds })
    }
    this.#writing.request()
  }

  readonly believes = (at: number): boolean => isBelievable(at, this.#deps.clock.now())

  /** Resolves when all that was learnt is kept. */
  async close(): Promise<void> {
    this.#followSteps()
    this.#keptAt = -Infinity
    this.#writing.request()
    await this.#writing.idle()
  }

  /** Sees whether the own clock was set, and keeps the time of the circle where it is. */
  #followSteps(): void {
    const movedMs = this.#measureOffset() - this.#offsetMs
    this.#offsetMs += movedMs
    if (Math.abs(movedMs) <= DRIFT_MS) return
    const sleptMs = this.#measureSleep() - this.#sleptMs
    this.#sleptMs += sleptMs
    // Whole milliseconds, rounded so that no time comes twice.
    const stepMs = Math.floor(sleptMs > STEP_MS ? movedMs - sleptMs : movedMs)
    if (Math.abs(stepMs) <= STEP_MS) return
    const backMs = this.#backMs - stepMs
    this.#backMs = Math.min(Math.max(0, backMs), MAX_AHEAD_MS - this.#learntMs)
    // Others were ahead of a clock that was behind.
    this.#learntMs = Math.max(0, this.#learntMs + Math.min(0, backMs))
    this.#toldMs = Math.min(this.#toldMs, this.#learntMs)
    this.#writing.request()
  }

  #measureOffset(): number {
    const { clock } = this.#deps
    return clock.now() - clock.monotonic()
  }

  #measureSleep(): number {
    return uptimeOf(this.#deps) - this.#deps.clock.monotonic()
  }

  async #keep(): Promise<void> {
    const aheadMs = this.#learntMs
    const at = Math.floor(this.#deps.clock.now() + aheadMs)
    if (Math.abs(aheadMs - this.#keptMs) <= WORTH_KEEPING_MS && !this.#isOld(at)) return
    // A file that cannot be written is not tried again at each look.
    this.#keptAt = at
    const uptimeMs = uptimeOf(this.#deps)
    // The file has no version.
    await this.#deps.file.write(`${JSON.stringify({ aheadMs, at, uptimeMs })}\n`)
    this.#keptMs = aheadMs
  }

  /** Whether others are ahead, and the time was not kept for long. */
  #isOld(at: number): boolean {
    return this.#learntMs > WORTH_KEEPING_MS && at - this.#keptAt > KEPT_EACH_MS
  }
}

/** Whole milliseconds since the machine started. */
function uptimeOf({ uptime = systemUptime }: CircleClockDeps): number {
  return Math.floor(uptime() * 1000)
}

async function readAhead(deps: CircleClockDeps): Promise<number> {
  const { file, clock, logger } = deps
  try {
    const text = await file.read()
    if (text === undefined) return 0
    const nowMs = uptimeOf(deps)
    const { aheadMs, at, uptimeMs = nowMs } = parseMemberFile(text)
    if (at === undefined) return aheadMs
    // By the own clock it would be longer, if that was put right meanwhile.
    const elapsedMs = nowMs < uptimeMs ? nowMs : nowMs - uptimeMs
    return Math.min(aheadMs, Math.max(0, Math.ceil(at + elapsedMs - clock.now())))
  } catch (error) {
    logger.warn(`Cannot read ${MEMBER_FILE}; it is made again`, { ...describeFailure(error) })
    return 0
  }
}

const isAhead = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_AHEAD_MS

interface Kept {
  readonly aheadMs: number
  readonly at?: number | undefined
  readonly uptimeMs?: number | undefined
}

const decodeMember: Decoder<Kept> = objectOf({
  aheadMs: matching(decodeNumber, isAhead, 'milliseconds, ten years at most'),
  at: optional(decodeNumber),
  uptimeMs: optional(matching(decodeNumber, (ms) => ms >= 0, 'milliseconds')),
})

/**
 * By how many milliseconds the circle was ahead, what time it was then, in Unix milliseconds, and
 * for how long the machine had run; earlier versions did not say.
 *
 * @throws {TypeError} when the text is not that of such a file, without quoting it.
 */
export function parseMemberFile(text: string): Kept {
  return decodeMember(parseJson(text))
}
