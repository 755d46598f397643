/**
 * Recognises what we wrote when the system hands it back: clipboard managers take over whatever is
 * on the clipboard and offer it anew, as it was or converted.
 *
 * It counts as ours as long as it is what we wrote last. Once anything else was copied, a person
 * may copy the very same thing again.
 *
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { rememberWritten, type Written } from './written.ts'

export interface EchoGuardOptions {
  /** Gets the copies that are no echo. */
  readonly onCopy: (copied: CopiedContent) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Writes that were not confirmed, which is one or two. */
const MAX_WRITTEN = 4

export class EchoGuard {
  readonly #options: EchoGuardOptions
  /** The last write that succeeded and those after it, oldest first. */
  #written: readonly Written[] = []
  /** Ends when what is being compared is of no interest any more. */
  #comparing = new AbortController()

  constructor(options: EchoGuardOptions) {
    this.#options = options
  }

  /**
   * Passes a copy on unless it is an echo. To tell that of an image takes its time; a copy that
   * comes meanwhile overtakes it.
   */
  onCopy(copied: CopiedContent): void {
    this.#comparing.abort()
    if (copied.kind !== 'image') {
      this.#decide(
        copied,
        this.#written.some((written) => written.isSame(copied)),
      )
      return
    }
    const comparing = new AbortController()
    this.#comparing = comparing
    const candidates = this.#written.filter((written) => written.kind === 'image')
    if (candidates.length === 0) this.#decide(copied, false)
    else void this.#compare(copied, candidates, comparing.signal)
  }

  /** Has `put` write `content`, and remembers it. */
  async offer(
    content: OfferedContent,
    put: (content: OfferedContent) => Promise<void>,
  ): Promise<void> {
    const { clock } = this.#options
    const written = rememberWritten(content, clock)
    const overtaken = this.#comparing
    // Before it is confirmed, either of them may come back.
    this.#written = [...this.#written, written].slice(-MAX_WRITTEN)
    await put(content)
    written.confirm()
    overtaken.abort()
    const index = this.#written.indexOf(written)
    if (index !== -1) this.#written = this.#written.slice(index)
  }

  /** Something was copied that is no business of ours. */
  forgetComparison(): void {
    this.#comparing.abort()
  }

  /** From now on everything is a copy. */
  forget(): void {
    this.#comparing.abort()
    this.#written = []
  }

  async #compare(
    copied: CopiedContent & { readonly kind: 'image' },
    candidates: readonly Written[],
    signal: AbortSignal,
  ): Promise<void> {
    const { logger } = this.#options
    for (const written of candidates) {
      // Whatever goes wrong with the comparison, a copy must not be lost.
      const isEcho = await written.isSameImage(copied, signal).catch((error: unknown) => {
        if (!signal.aborted) logger.debug('Cannot compare images', { ...describeFailure(error) })
        return false
      })
      if (signal.aborted) return
      if (isEcho) return this.#decide(copied, true)
    }
    this.#decide(copied, false)
  }

  #decide(copied: CopiedContent, isEcho: boolean): void {
    if (isEcho) {
      this.#options.logger.debug('What was written came back', { kind: copied.kind })
      return
    }
    this.#written = []
    this.#options.onCopy(copied)
  }
}
