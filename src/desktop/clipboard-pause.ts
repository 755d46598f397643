/**
 * The pause of the desktop's clipboard: nothing that is copied is read, and nothing is written.
 * A pause is kept in a file and survives a restart. Its end is a wall-clock time, looked at when it
 * matters, so that neither a sleeping computer nor a clock that is set prolongs it.
 *
 * What was copied during a pause is held back for as long as it is on the clipboard, also from the
 * next daemon and on another display. It is not known by its content, which nobody reads: the file
 * names the desktops on which something was copied or put since the last pause. On any other one
 * nobody knows how old that is which is found there (decision 008).
 * @module
 */

import { tell } from '../core/happening.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import {
  arrayOf,
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Pause } from '../ports/admin.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import { parseJson } from '../lib/utf8.ts'

export const PAUSE_FILE = 'paused.json'

/** The end of a pause that is over: no clock that is set brings it back. */
const OVER_MS = 0

/** The desktops that are remembered; what is found on an older one is held back again. */
const MAX_DESKTOPS = 8

/** The latest time that `Date` can hold. */
const MAX_TIME_MS = 8.64e15

/** Timers stand still while a computer sleeps, and do not notice when its clock is set. */
const LOOK_MS = 30_000

interface ClipboardPauseDeps {
  readonly file: PrivateFile
  readonly clock: Clock
  readonly logger: Logger
  /** Names the desktop whose clipboard it is, the same one after each start. */
  readonly desktop: string
}

interface PauseRecord extends Pause {
  /** Where something was copied or put on the clipboard since it was over, oldest first. */
  readonly changedOn: readonly string[]
}

/** The pause, of which there is one at a time. */
export class ClipboardPause {
  readonly #deps: ClipboardPauseDeps
  readonly #changes = new Semaphore(1)
  readonly #watchers = new Subscribers()
  /** `undefined` when there has been none, ever. */
  #last: PauseRecord | undefined
  #cancelLook: (() => void) | undefined

  /** Goes on with the pause that there was when the daemon ended. */
  static async open(deps: ClipboardPauseDeps): Promise<ClipboardPause> {
    const opened = new ClipboardPause(deps, await readLast(deps))
    if (opened.isOn) tell(deps.logger, { kind: 'paused', ...opened.current })
    return opened
  }

  private constructor(deps: ClipboardPauseDeps, last: PauseRecord | undefined) {
    this.#deps = deps
    this.#last = last
    this.#look()
  }

  get current(): Pause | undefined {
    return this.isOn ? { untilMs: this.#last?.untilMs } : undefined
  }

  /** Whether there is a pause; ends one whose time has come. */
  get isOn(): boolean {
    const { untilMs = Infinity } = this.#last ?? OVER
    if (untilMs > this.#deps.clock.now()) return true
    if (untilMs !== OVER_MS) {
      this.#end()
      void this.#changes.run(() => this.#keep())
    }
    return false
  }

  /** Whether what is found on the clipboard may have been copied during a pause. */
  get isHoldingBack(): boolean {
    if (this.isOn) return true
    return this.#last !== undefined && !this.#last.changedOn.includes(this.#deps.desktop)
  }

  /** Something was copied just now, or put on the clipboard: what was held back is gone. */
  noteChange(): void {
    const last = this.#last
    if (last === undefined || !this.isHoldingBack || this.isOn) return
    const changedOn = [...last.changedOn, this.#deps.desktop].slice(-MAX_DESKTOPS)
    this.#last = { untilMs: OVER_MS, changedOn }
    void this.#changes.run(() => this.#keep())
  }

  /** Calls `listener` when a pause began or ended. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /**
   * Begins a pause, or replaces the one there is; without `durationMs` it has no end.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`; nothing has changed then.
   */
  begin(durationMs: number | undefined): Promise<Pause> {
    return this.#changes.run(async () => {
      const { file, clock, logger } = this.#deps
      const untilMs = durationMs === undefined ? undefined : clock.now() + durationMs
      const begun = { untilMs, changedOn: [] }
      await file.write(formatRecord(begun))
      this.#last = begun
      this.#look()
      tell(logger, { kind: 'paused', untilMs })
      this.#watchers.notify()
      return { untilMs }
    })
  }

  /** Ends the pause. @throws {DomainError} As `begin`. */
  end(): Promise<void> {
    return this.#changes.run(async () => {
      if (!this.isOn) return
      await this.#deps.file.write(formatRecord(OVER))
      this.#end()
    })
  }

  /** Ends the timer; the pause stays for the next start. */
  async close(): Promise<void> {
    this.#cancelLook?.()
    await this.#changes.idle()
  }

  #end(): void {
    this.#last = OVER
    this.#cancelLook?.()
    tell(this.#deps.logger, { kind: 'resumed' })
    this.#watchers.notify()
  }

  /** An older file does no harm: with it too much is held back. */
  async #keep(): Promise<void> {
    const last = this.#last
    try {
      // Another one may have begun.
      if (last?.untilMs === OVER_MS) await this.#deps.file.write(formatRecord(last))
    } catch (error) {
      this.#deps.logger.warn(`Cannot write ${PAUSE_FILE}`, { ...describeFailure(error) })
    }
  }

  #look(): void {
    this.#cancelLook?.()
    const untilMs = this.current?.untilMs
    if (untilMs === undefined) return
    const delayMs = Math.min(LOOK_MS, untilMs - this.#deps.clock.now())
    this.#cancelLook = this.#deps.clock.after(delayMs, () => this.#look())
  }
}

const OVER: PauseRecord = { untilMs: OVER_MS, changedOn: [] }

/** A file that cannot be read was written for a pause: sharing too little is the safe side. */
async function readLast({ file, logger }: ClipboardPauseDeps): Promise<PauseRecord | undefined> {
  try {
    const text = await file.read()
    if (text === undefined) return undefined
    const { untilMs, changedOn = [] } = decodeRecord(parseJson(text))
    return { untilMs, changedOn }
  } catch (error) {
    const remedy = 'the clipboard stays paused; to end that: clipgate resume'
    logger.warn(`Cannot read ${PAUSE_FILE}; ${remedy}`, { ...describeFailure(error) })
    return { untilMs: undefined, changedOn: [] }
  }
}

function formatRecord({ untilMs, changedOn }: PauseRecord): string {
  return `${JSON.stringify({ untilMs: untilMs ?? null, changedOn })}\n`
}

const isTime = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= MAX_TIME_MS

const decodeRecord = objectOf({
  untilMs: optional(matching(decodeNumber, isTime, 'a time in Unix milliseconds')),
  changedOn: optional(arrayOf(decodeString)),
}) satisfies Decoder<unknown>

/** A pause of the person in front of the desktop: nothing is read, nothing is written. */
export type SharingPause = Pick<
  ClipboardPause,
  'isOn' | 'isHoldingBack' | 'noteChange' | 'onChange'
>

/** For those who cannot be paused. */
export const NEVER_PAUSED: SharingPause = {
  isOn: false,
  isHoldingBack: false,
  noteChange: () => undefined,
  onChange: () => () => undefined,
}
