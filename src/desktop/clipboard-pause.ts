/**
 * The pause of the desktop's clipboard: nothing that is copied is read, and nothing is written.
 * A pause is kept in a file and survives a restart. Its end is a wall-clock time, looked at when it
 * matters, so that neither a sleeping computer nor a clock that is set prolongs it.
 * @module
 */

import { describeFailure } from '../lib/describe-failure.ts'
import { decodeNumber, matching, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Pause } from '../ports/admin.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import { parseJson } from '../lib/utf8.ts'

/** The file of the pause in the data directory. */
export const PAUSE_FILE = 'paused.json'

/** The latest time that `Date` can hold. */
const MAX_TIME_MS = 8.64e15

/** Timers stand still while a computer sleeps, and do not notice when its clock is set. */
const LOOK_MS = 30_000

/** The surroundings of a pause. */
export interface ClipboardPauseDeps {
  readonly file: PrivateFile
  readonly clock: Clock
  readonly logger: Logger
}

/** The pause, of which there is one at a time. */
export class ClipboardPause {
  readonly #deps: ClipboardPauseDeps
  readonly #changes = new SerialQueue()
  readonly #watchers = new Subscribers()
  #pause: Pause | undefined
  #cancelLook: (() => void) | undefined
  /** Whether there was a pause when the daemon ended: what is on the clipboard may be of then. */
  readonly wasOn: boolean

  /** Goes on with the pause that there was when the daemon ended. */
  static async open(deps: ClipboardPauseDeps): Promise<ClipboardPause> {
    const pause = await readPause(deps)
    const opened = new ClipboardPause(deps, pause)
    if (opened.isOn) deps.logger.info('The clipboard is paused')
    return opened
  }

  private constructor(deps: ClipboardPauseDeps, pause: Pause | undefined) {
    this.#deps = deps
    this.#pause = pause
    this.wasOn = pause !== undefined
    this.#look()
  }

  /** The pause there is. */
  get current(): Pause | undefined {
    return this.isOn ? this.#pause : undefined
  }

  /** Whether there is a pause; ends one whose time has come. */
  get isOn(): boolean {
    const untilMs = this.#pause?.untilMs ?? Infinity
    if (untilMs <= this.#deps.clock.now()) {
      this.#end()
      void this.#changes.run(() => this.#forget())
    }
    return this.#pause !== undefined
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
      const { file, clock } = this.#deps
      const untilMs = durationMs === undefined ? undefined : clock.now() + durationMs
      await file.write(formatPause({ untilMs }))
      this.#pause = { untilMs }
      this.#look()
      this.#watchers.notify()
      return { untilMs }
    })
  }

  /** Ends the pause. @throws {DomainError} As `begin`. */
  end(): Promise<void> {
    return this.#changes.run(async () => {
      if (!this.isOn) return
      await this.#deps.file.remove()
      this.#end()
    })
  }

  /** Ends the timer; the pause stays for the next start. */
  async close(): Promise<void> {
    this.#cancelLook?.()
    await this.#changes.idle()
  }

  #end(): void {
    this.#pause = undefined
    this.#cancelLook?.()
    this.#deps.logger.info('The clipboard is shared again')
    this.#watchers.notify()
  }

  /** A pause that is over does no harm when its file stays: it says so itself. */
  async #forget(): Promise<void> {
    try {
      // Another one may have begun.
      if (this.#pause === undefined) await this.#deps.file.remove()
    } catch (error) {
      this.#deps.logger.warn(`Cannot remove ${PAUSE_FILE}`, { ...describeFailure(error) })
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

/** A file that cannot be read was written for a pause: sharing too little is the safe side. */
async function readPause({ file, logger }: ClipboardPauseDeps): Promise<Pause | undefined> {
  try {
    const text = await file.read()
    return text === undefined ? undefined : decodePause(parseJson(text))
  } catch (error) {
    const remedy = 'the clipboard stays paused; to end that: clipgate resume'
    logger.warn(`Cannot read ${PAUSE_FILE}; ${remedy}`, { ...describeFailure(error) })
    return { untilMs: undefined }
  }
}

function formatPause({ untilMs }: Pause): string {
  return `${JSON.stringify({ untilMs: untilMs ?? null })}\n`
}

const isTime = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= MAX_TIME_MS

const decodePause: Decoder<Pause> = objectOf({
  untilMs: optional(matching(decodeNumber, isTime, 'a time in Unix milliseconds')),
})
