/**
 * The clipboard of a Wayland desktop, never the primary selection, which changes with every word
 * that is marked.
 *
 * Reads and writes with the tools of wl-clipboard; `wl-paste --watch` tells about copies, and
 * nothing is polled. When the compositor is lost, the clipboard comes back by itself as soon as the
 * compositor does.
 *
 * Where programs in the background may not watch the clipboard, as in GNOME, it does not open:
 * wl-clipboard would have to take the keyboard away for each look.
 * @module
 */

import { messageOf } from '../../lib/describe-failure.ts'
import type {
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { OutOfReach } from '../clipboard-errors.ts'
import { HelperProcess } from '../helper/helper-process.ts'
import { COPY_LIMITS, type AdapterOptions, type CopyLimits } from '../read-copy.ts'
import { AWAY } from './data-control.ts'
import { prepareWatch, toolEnvironment } from './watch-command.ts'
import { clearClipboard, isEmpty, WlCopy } from './wl-copy.ts'
import { listTypes, pasteCopy } from './wl-paste.ts'

/** How the clipboard is opened. */
export interface WaylandClipboardOptions extends AdapterOptions {
  /** Names the compositor, and where the tools are; that of this process when absent. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** The change that tells what is on the clipboard already comes at once. */
const FIRST_CHANGE_MS = 2000

/** The clipboard of a Wayland session. */
export class WaylandClipboard implements SystemClipboard {
  readonly kind = 'wayland'
  readonly #options: WaylandClipboardOptions
  readonly #env: NodeJS.ProcessEnv
  readonly #limits: CopyLimits
  #helper: HelperProcess | undefined
  /** Takes the next change, which is no copy. */
  #skip: (() => void) | undefined
  /** Offers what is being written. */
  #pending: WlCopy | undefined
  /** Keeps what was written on the clipboard. */
  #owner: WlCopy | undefined
  /** The last owner ended, and not because somebody copied. */
  #isOursLost = false
  #isAway = false
  #isClosed = false

  /**
   * @throws {Error} Without a compositor, when it lacks the data-control protocol, or wl-clipboard
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

  read(signal: AbortSignal): Promise<CopiedContent | 'overtaken' | undefined> {
    const { clock } = this.#options
    return pasteCopy({ env: this.#env, clock, limits: this.#limits, signal })
  }

  async write(content: OfferedContent): Promise<void> {
    if (this.#isClosed) throw new Error('The clipboard is closed')
    if (this.#isAway) throw new OutOfReach(AWAY)
    const { clock } = this.#options
    if (isEmpty(content)) return await clearClipboard(this.#env, clock)
    const copy = new WlCopy({ content, env: this.#env, clock })
    this.#pending = copy
    void copy.ended.then(() => this.#onEnded(copy))
    try {
      await copy.confirmed
    } catch (error) {
      throw this.#isAway || copy.isLost ? new OutOfReach(messageOf(error)) : error
    } finally {
      if (this.#pending === copy) this.#pending = undefined
    }
  }

  confirm(seen: 'ours' | 'foreign'): void {
    const copy = this.#pending
    if (seen === 'foreign') return copy?.overtake()
    if (copy === undefined) return
    this.#pending = undefined
    this.#owner = copy
    copy.confirm()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#helper?.close()
    await this.#pending?.release()
    await this.#owner?.release()
  }

  async #open(): Promise<void> {
    const { clock, logger, readAtStart, events } = this.#options
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
      onTrouble: (message) => {
        this.#isAway = message !== undefined
        if (message === undefined) events.onTrouble(undefined)
        else events.onLost(message)
      },
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

  #onChanged(): void {
    if (this.#isClosed) return
    if (this.#skip === undefined) this.#options.events.onChange('another')
    else this.#skip()
  }

  #onEnded(copy: WlCopy): void {
    if (this.#owner !== copy) return
    this.#owner = undefined
    // When somebody copied, that counts; without a compositor ours does, which may be back by now.
    this.#isOursLost = copy.isLost
    if (copy.isLost && !this.#isAway && !this.#isClosed) this.#onReady()
  }

  /** The watch announces what is on the clipboard; if there is nothing, ours takes its place. */
  #onReady(): void {
    if (this.#helper === undefined) return
    const { clock, logger, events } = this.#options
    const look = async (): Promise<void> => {
      const types = await listTypes({ env: this.#env, clock })
      const isFree = types.length === 0 || this.#owner !== undefined
      if (isFree && !this.#isClosed) events.onBack(this.#isOursLost)
    }
    look().catch((error: unknown) => {
      logger.debug('Cannot catch up with the clipboard', { reason: messageOf(error) })
    })
  }
}
