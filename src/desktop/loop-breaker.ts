/**
 * Ends the loop of two programs that answer each other on the clipboard: one of them is us, when a
 * device or another daemon pushes whenever something is copied, and the other one rewrites whatever
 * we put on the clipboard.
 *
 * It stops writing for a while, and goes on by itself. What is copied is still shared, and what is
 * pushed is still kept and served; the newest push is written when the pause is over, unless
 * somebody copied meanwhile.
 *
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ClipboardEvents, CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { LoopDetector } from './loop-detector.ts'

/** The first pause; each one that follows soon is twice as long as the one before. */
const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 600_000

/** After so long without a loop the next pause is a first one again. */
const CALM_MS = 600_000

export interface LoopBreakerOptions {
  readonly events: Pick<ClipboardEvents, 'onCopy' | 'onTrouble'>
  readonly clock: Clock
  readonly logger: Logger
}

type Put = (content: OfferedContent) => Promise<void>

export class LoopBreaker {
  readonly #options: LoopBreakerOptions
  readonly #detector = new LoopDetector()
  /** Ends the pause without what follows it; `undefined` when there is none. */
  #cancelPause: (() => void) | undefined
  #pauseMs = FIRST_PAUSE_MS
  #resumedAt = -Infinity
  /** What was to be written during the pause. */
  #held: (() => Promise<void>) | undefined

  constructor(options: LoopBreakerOptions) {
    this.#options = options
  }

  /** Passes a copy on. */
  onCopy(copied: CopiedContent): void {
    this.#held = undefined
    if (this.#cancelPause === undefined && this.#isLoop('copy')) this.#pause()
    this.#options.events.onCopy(copied)
  }

  /** Has `put` write, now or when the pause is over; resolves at once in the second case. */
  async offer(content: OfferedContent, put: Put): Promise<void> {
    if (this.#cancelPause === undefined && this.#isLoop('write')) this.#pause()
    if (this.#cancelPause === undefined) return put(content)
    this.#options.logger.debug('Not put on the clipboard for now', { kind: content.kind })
    this.#held = () => put(content)
  }

  /** Something was copied that is no business of ours, but is not to be overwritten. */
  forgetHeld(): void {
    this.#held = undefined
  }

  close(): void {
    this.#held = undefined
    this.#cancelPause?.()
  }

  #isLoop(change: 'write' | 'copy'): boolean {
    return this.#detector.note(change, this.#options.clock.monotonic())
  }

  #pause(): void {
    const { clock, events } = this.#options
    const isCalm = clock.monotonic() - this.#resumedAt > CALM_MS
    const pauseMs = isCalm ? FIRST_PAUSE_MS : Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
    this.#pauseMs = pauseMs
    this.#cancelPause = clock.after(pauseMs, () => this.#resume())
    events.onTrouble(
      'Another program changes whatever is put on the clipboard, again and again: ' +
        `nothing is put on it for ${pauseMs / 1000} s`,
    )
  }

  #resume(): void {
    const { clock, events, logger } = this.#options
    const held = this.#held
    this.#held = undefined
    this.#cancelPause = undefined
    this.#resumedAt = clock.monotonic()
    this.#detector.reset()
    events.onTrouble(undefined)
    if (held === undefined) return
    this.#isLoop('write')
    held().catch((error: unknown) => {
      logger.error('Cannot put on the clipboard what was held back', { ...describeFailure(error) })
    })
  }
}
