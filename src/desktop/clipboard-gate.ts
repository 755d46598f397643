/**
 * Stands between the system clipboard and everybody else, and closes for a pause: then nothing that
 * is copied is read, and nothing is written.
 *
 * What is copied during a pause is never shared. Of what devices push meanwhile the newest is
 * offered afterwards, unless somebody copied since it came.
 *
 * A pause is kept in a file and survives a restart. Its end is a wall-clock time, looked at whenever
 * it matters, so that neither a sleeping computer nor a clock that is set prolongs it.
 *
 * @module
 */

import { describeFailure } from '../lib/describe-failure.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Pause } from '../ports/admin.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import type { OfferedContent, SystemClipboard } from '../ports/system-clipboard.ts'
import { formatPause, parsePause, PAUSE_FILE } from './pause-file.ts'

/** Timers stand still while a computer sleeps, and do not notice when its clock is set. */
const LOOK_MS = 30_000

export interface ClipboardGateDeps {
  readonly file: PrivateFile
  readonly clock: Clock
  readonly logger: Logger
}

/** A push, and how many copies there had been when it came. */
interface Arrival {
  readonly copies: number
  readonly isWhilePaused: boolean
}

export class ClipboardGate {
  readonly #deps: ClipboardGateDeps
  readonly #changes = new SerialQueue()
  readonly #watchers = new Subscribers()
  #pause: Pause | undefined
  #cancelLook: (() => void) | undefined
  #clipboard: Pick<SystemClipboard, 'offer'> | undefined
  #copies = 0
  #arrival: Arrival = { copies: 0, isWhilePaused: false }
  /** What would be on the clipboard but for the pause. */
  #held: OfferedContent | undefined
  /** Whether there was a pause when the daemon ended: what is on the clipboard may be of then. */
  readonly wasPaused: boolean

  /** Goes on with the pause that there was when the daemon ended. */
  static async open(deps: ClipboardGateDeps): Promise<ClipboardGate> {
    const pause = await readPause(deps)
    const gate = new ClipboardGate(deps, pause)
    if (gate.#isPaused()) deps.logger.info('The clipboard is paused')
    return gate
  }

  private constructor(deps: ClipboardGateDeps, pause: Pause | undefined) {
    this.#deps = deps
    this.#pause = pause
    this.wasPaused = pause !== undefined
    this.#look()
  }

  /** The pause there is. */
  get pause(): Pause | undefined {
    return this.#isPaused() ? this.#pause : undefined
  }

  /** Whether what was read may be shared. */
  get isOpen(): boolean {
    return !this.#isPaused()
  }

  /** Says what is behind the gate, once there is something. */
  connect(clipboard: Pick<SystemClipboard, 'offer'>): void {
    this.#clipboard = clipboard
  }

  /** Calls `listener` when a pause began or ended. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** Somebody copied. @returns Whether it may be read. */
  noteCopy(): boolean {
    this.#copies += 1
    return !this.#isPaused()
  }

  /** A device pushed; `offer` comes when the item is ready for that. */
  notePush(): void {
    this.#arrival = { copies: this.#copies, isWhilePaused: this.#isPaused() }
    this.#held = undefined
  }

  /** Offers `content` as `SystemClipboard.offer`; during a pause, when it is over. */
  async offer(content: OfferedContent): Promise<void> {
    if (this.#isPaused()) this.#held = content
    else if (!this.#isOvertaken()) await this.#clipboard?.offer(content)
  }

  /** @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`; nothing has changed then. */
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

  /** @throws {DomainError} As `begin`. */
  end(): Promise<void> {
    return this.#changes.run(async () => {
      if (!this.#isPaused()) return
      await this.#deps.file.remove()
      this.#open()
    })
  }

  /** Ends the timer; the pause stays for the next start. */
  async close(): Promise<void> {
    this.#cancelLook?.()
    this.#clipboard = undefined
    await this.#changes.idle()
  }

  /** Also ends a pause whose time has come. */
  #isPaused(): boolean {
    const untilMs = this.#pause?.untilMs
    if (untilMs !== undefined && untilMs <= this.#deps.clock.now()) {
      this.#open()
      void this.#changes.run(() => this.#forget())
    }
    return this.#pause !== undefined
  }

  #open(): void {
    this.#pause = undefined
    this.#cancelLook?.()
    const held = this.#held
    this.#held = undefined
    this.#deps.logger.info('The clipboard is shared again')
    this.#watchers.notify()
    if (held === undefined || this.#isOvertaken()) return
    this.#clipboard?.offer(held).catch((error: unknown) => {
      const failure = describeFailure(error)
      this.#deps.logger.warn('Cannot offer what was pushed during the pause', { ...failure })
    })
  }

  /** Whether somebody copied since the push came, unread. */
  #isOvertaken(): boolean {
    const { copies, isWhilePaused } = this.#arrival
    return isWhilePaused && copies !== this.#copies
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
    if (!this.#isPaused()) return
    const { untilMs } = this.#pause ?? {}
    if (untilMs === undefined) return
    const delayMs = Math.min(LOOK_MS, untilMs - this.#deps.clock.now())
    this.#cancelLook = this.#deps.clock.after(delayMs, () => this.#look())
  }
}

/** A file that cannot be read was written for a pause: sharing too little is the safe side. */
async function readPause({ file, logger }: ClipboardGateDeps): Promise<Pause | undefined> {
  try {
    const text = await file.read()
    return text === undefined ? undefined : parsePause(text)
  } catch (error) {
    const remedy = 'the clipboard stays paused; to end that: clipgate resume'
    logger.warn(`Cannot read ${PAUSE_FILE}; ${remedy}`, { ...describeFailure(error) })
    return { untilMs: undefined }
  }
}
