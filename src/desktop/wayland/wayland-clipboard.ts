/**
 * The clipboard of a Wayland desktop, never the primary selection, which changes with every word
 * that is marked.
 *
 * Reads and writes with the tools of wl-clipboard; `wl-paste --watch` tells about copies, and
 * nothing is polled. When the compositor is lost, it comes back by itself as soon as the
 * compositor does.
 *
 * Where programs in the background may not watch the clipboard, as in GNOME, it does not open:
 * wl-clipboard would have to take the keyboard away for each look.
 *
 * @module
 */

import { messageOf } from '../../lib/describe-failure.ts'
import { SerialQueue } from '../../lib/serial-queue.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type {
  ClipboardEvents,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { HelperProcess } from '../helper/helper-process.ts'
import { CopyTooLarge } from '../copy-too-large.ts'
import { COPY_LIMITS, type CopyLimits } from '../read-copy.ts'
import { AWAY } from './data-control.ts'
import { prepareWatch, toolEnvironment } from './watch-command.ts'
import { clearClipboard, WlCopy } from './wl-copy.ts'
import { listTypes, pasteCopy } from './wl-paste.ts'
import { isEmpty, isSameContent, type WrittenContent } from './written-content.ts'

export interface WaylandClipboardOptions {
  /** Names the compositor, and where the tools are; that of this process when absent. */
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly events: ClipboardEvents
  readonly logger: Logger
  readonly clock: Clock
  /** Reports what is on the clipboard already as a copy. */
  readonly readAtStart: boolean
  readonly limits?: Partial<CopyLimits>
}

/** The change that tells what is on the clipboard already comes at once. */
const FIRST_CHANGE_MS = 2000

export class WaylandClipboard implements SystemClipboard {
  readonly kind = 'wayland'
  readonly #options: WaylandClipboardOptions
  readonly #env: NodeJS.ProcessEnv
  readonly #limits: CopyLimits
  readonly #offers = new SerialQueue()
  #helper: HelperProcess | undefined
  #reading = new AbortController()
  /** Takes the next change, which is no copy. */
  #skip: (() => void) | undefined
  /** What others should be able to paste, as far as we know. */
  #offered: OfferedContent | undefined
  /** What we wrote last, as long as nothing else was copied. */
  #written: WrittenContent | undefined
  /** What is being written. */
  #pending: WlCopy | undefined
  /** What keeps our content on the clipboard. */
  #owner: WlCopy | undefined
  #isAway = false
  #trouble: string | undefined
  #isClosed = false

  /**
   * @throws {Error} When there is no compositor, it lacks the data-control protocol, or wl-clipboard
   *   is not installed. The message is for people.
   */
  static async open(options: WaylandClipboardOptions): Promise<WaylandClipboard> {
    const clipboard = new WaylandClipboard(options)
    await clipboard.#open()
    return clipboard
  }

  private constructor(options: WaylandClipboardOptions) {
    this.#options = options
    this.#env = toolEnvironment(options.env ?? process.env)
    this.#limits = { ...COPY_LIMITS, ...options.limits }
  }

  /**
   * @throws {Error} When another program copied at the same moment, or the compositor is away; in
   *   the second case `content` is offered when it is back, if the clipboard is empty then.
   */
  offer(content: OfferedContent): Promise<void> {
    return this.#offers.run(() => this.#offer(content))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#reading.abort()
    await this.#helper?.close()
    await this.#pending?.release()
    await this.#owner?.release()
  }

  async #open(): Promise<void> {
    const { clock, logger, readAtStart } = this.#options
    const env = this.#env
    const watch = await prepareWatch(env, clock)
    const isSkipping = !readAtStart && (await listTypes({ env, clock })).length > 0
    const skipped = isSkipping ? this.#skipFirst() : undefined
    this.#helper = await HelperProcess.start({
      ...watch,
      env,
      clock,
      logger,
      onEvent: ({ event }) => (event === 'ready' ? this.#onReady() : this.#onChanged()),
      onTrouble: (message) => this.#onWatchTrouble(message),
    })
    await skipped
  }

  #skipFirst(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(FIRST_CHANGE_MS, () => this.#skip?.())
      this.#skip = () => {
        this.#skip = undefined
        cancel()
        resolve()
      }
    })
  }

  async #offer(content: OfferedContent): Promise<void> {
    if (this.#isClosed) throw new Error('The clipboard is closed')
    if (this.#isAway) {
      this.#offered = content
      throw new Error(AWAY)
    }
    const { clock } = this.#options
    if (isEmpty(content)) return await clearClipboard(this.#env, clock)
    const copy = new WlCopy({ content, env: this.#env, clock })
    this.#pending = copy
    void copy.ended.then(() => this.#onEnded(copy))
    try {
      await copy.confirmed()
    } catch (error) {
      this.#offered = this.#isAway || copy.isLost ? content : undefined
      throw error
    } finally {
      if (this.#pending === copy) this.#pending = undefined
    }
    this.#report(undefined)
  }

  #onChanged(): void {
    if (this.#isClosed) return
    if (this.#skip !== undefined) return this.#skip()
    this.#reading.abort()
    // While something of ours is being written, only its content tells whose the change is.
    if (this.#pending === undefined && !this.#options.events.isWanted()) this.#onCopied(undefined)
    else void this.#read(this.#pending !== undefined)
  }

  /** @param isUnasked Whether nobody was asked yet if a copy is wanted. */
  async #read(isUnasked: boolean): Promise<void> {
    this.#reading = new AbortController()
    const { signal } = this.#reading
    const { clock, logger } = this.#options
    try {
      const from = { env: this.#env, clock, limits: this.#limits, signal }
      const { isGone, content } = await pasteCopy(from)
      if (signal.aborted) return
      this.#report(undefined)
      if (isGone || this.#isOurs(content)) return
      const isWanted = !isUnasked || this.#options.events.isWanted()
      this.#onCopied(isWanted ? content : undefined)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof CopyTooLarge && this.#isOursBeyondLimit()) return
      this.#onCopied(undefined)
      const reason = messageOf(error)
      logger.debug('Cannot read what was copied', { reason })
      this.#report(reason)
    }
  }

  #isOurs(copied: CopiedContent | undefined): boolean {
    if (copied === undefined) return false
    const pending = this.#pending
    if (pending?.written !== undefined && isSameContent(pending.written, copied)) {
      this.#confirm(pending, pending.written)
      return true
    }
    return this.#written !== undefined && isSameContent(this.#written, copied)
  }

  /** An image that is too large to be read again: nobody else's could be shared either. */
  #isOursBeyondLimit(): boolean {
    const { maxImageBytes } = this.#limits
    const written = this.#pending?.written ?? this.#written
    if (written?.content.kind !== 'image' || written.content.blob.size <= maxImageBytes)
      return false
    if (this.#pending !== undefined) this.#confirm(this.#pending, written)
    return true
  }

  #confirm(copy: WlCopy, written: WrittenContent): void {
    this.#pending = undefined
    this.#owner = copy
    this.#written = written
    this.#offered = written.content
    copy.confirm()
  }

  /** @param content `undefined` when it cannot be shared. */
  #onCopied(content: CopiedContent | undefined): void {
    this.#written = undefined
    this.#offered = undefined
    this.#pending?.overtake()
    if (content !== undefined) this.#options.events.onCopy(content)
  }

  /** When somebody copied, that counts; without a compositor ours does, which may be back by now. */
  #onEnded(copy: WlCopy): void {
    if (this.#owner !== copy) return
    this.#owner = undefined
    if (!copy.isLost) this.#offered = undefined
    else if (!this.#isAway && !this.#isClosed) this.#onReady()
  }

  #onWatchTrouble(message: string | undefined): void {
    this.#isAway = message !== undefined
    if (this.#isAway) this.#reading.abort()
    this.#report(message)
  }

  /** What is on the clipboard then is announced; if there is nothing, ours takes its place. */
  #onReady(): void {
    if (this.#helper === undefined) return
    const { clock, logger } = this.#options
    const again = this.#offers.run(async () => {
      if (this.#offered === undefined || this.#owner !== undefined) return
      const types = await listTypes({ env: this.#env, clock })
      if (types.length === 0 && this.#offered !== undefined) await this.#offer(this.#offered)
    })
    again.catch((error: unknown) => {
      logger.debug('Cannot catch up with the clipboard', { reason: messageOf(error) })
    })
  }

  #report(trouble: string | undefined): void {
    if (this.#isClosed || trouble === this.#trouble) return
    this.#trouble = trouble
    this.#options.events.onTrouble(trouble)
  }
}
