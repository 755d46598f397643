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

import { describeFailure, messageOf } from '../../lib/describe-failure.ts'
import type {
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { OutOfReach, UnusableYet } from '../clipboard-errors.ts'
import { HelperProcess } from '../helper/helper-process.ts'
import { canBePng, photoAsPng } from '../photo-as-png.ts'
import { COPY_LIMITS, type AdapterOptions, type CopyLimits } from '../read-copy.ts'
import { AWAY } from './data-control.ts'
import { prepareWatch, toolEnvironment, type Watch } from './watch-command.ts'
import {
  clearClipboard,
  CLOSED,
  isEmpty,
  isLeftOver,
  NO_ROOM,
  OVERTAKEN,
  sweepFiles,
  WlCopy,
} from './wl-copy.ts'
import { listTypes, pasteCopy } from './wl-paste.ts'

interface WaylandClipboardOptions extends AdapterOptions {
  /** Names the compositor, and where the tools are; that of this process when absent. */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** The change that tells what is on the clipboard already comes at once. */
const FIRST_CHANGE_MS = 2000

/** Then a compositor that hung may go on, of which it tells nobody. */
const HUNG_MS = 2000

/** The clipboard of a Wayland session. */
export class WaylandClipboard implements SystemClipboard {
  readonly kind = 'wayland'
  readonly #options: WaylandClipboardOptions
  readonly #env: NodeJS.ProcessEnv
  readonly #limits: CopyLimits
  #helper: HelperProcess | undefined
  /** The next change tells of what was there when the watching began. */
  #isFound = false
  /** Something was on the clipboard since the watching began. */
  #hasChanged = false
  /** Takes the next change, which is no copy. */
  #skip: (() => void) | undefined
  /** Offers what is being written. */
  #pending: WlCopy | undefined
  /** Keeps what was written on the clipboard. */
  #owner: WlCopy | undefined
  /** The last owner ended, and not because somebody copied. */
  #isOursLost = false
  #isAway = false
  #cancelRetry: () => void = () => undefined
  #isClosed = false

  /**
   * @throws {UnusableYet} When wl-clipboard is not installed, too old, or fails. The message is for
   *   people, as are the others.
   * @throws {Error} Without a compositor, or when it lacks the data-control protocol.
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
    if (this.#isClosed) throw new Error(CLOSED)
    if (this.#isAway) throw new OutOfReach(AWAY)
    const { clock } = this.#options
    if (isEmpty(content)) return await clearClipboard(this.#env, clock)
    const copy = new WlCopy({ content, env: this.#env, clock })
    this.#pending = copy
    void copy.ended.then(() => this.#onEnded(copy))
    try {
      await copy.confirmed
    } catch (error) {
      const reason = messageOf(error)
      if (reason === NO_ROOM) this.#options.events.onTrouble(reason)
      if (copy.isLost && !this.#isAway && !this.#isClosed) this.#tryLater()
      throw this.#isAway || copy.isLost ? new OutOfReach(reason) : error
    } finally {
      if (this.#pending === copy) this.#pending = undefined
    }
  }

  #tryLater(): void {
    const { clock, events } = this.#options
    this.#cancelRetry()
    this.#cancelRetry = clock.after(HUNG_MS, () => events.onBack(false))
  }

  /** A photo as PNG, which most programs paste: wl-copy offers one type. */
  async convert(content: OfferedContent, signal: AbortSignal): Promise<OfferedContent | undefined> {
    if (content.kind !== 'image' || !canBePng(content.mediaType)) return undefined
    const { blob, mediaType } = content
    const png = await photoAsPng(blob, mediaType, signal)
    // A larger one could not be recognised when it comes back.
    if (png.size > this.#limits.maxImageBytes) throw new Error('The photo is too large as PNG')
    return { ...content, mediaType: 'image/png', blob: png }
  }

  confirm(seen: 'ours' | 'foreign'): void {
    const copy = this.#pending
    if (copy === undefined) return
    if (seen === 'ours') this.#own(copy)
    else if (copy.isSent) this.#look(copy)
    else void copy.abort(OVERTAKEN)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry()
    await this.#helper?.close()
    await this.#pending?.release()
    await this.#owner?.release()
  }

  async #open(): Promise<void> {
    const watch = await prepareWatch(this.#env, this.#options.clock)
    try {
      await this.#start(watch)
    } catch (cause) {
      throw new UnusableYet(messageOf(cause), { cause })
    }
  }

  async #start(watch: Watch): Promise<void> {
    const { clock, logger, readAtStart, events, wasCutOff = false } = this.#options
    const env = this.#env
    if (wasCutOff) {
      await sweepFiles().catch((error: unknown) => {
        logger.debug('Cannot remove temporary files', { ...describeFailure(error) })
      })
    }
    // Without an answer there may be something, of which nobody knows when it was copied.
    const types = await this.#listFirst()
    this.#isFound = types?.length !== 0
    const skipped = this.#isFound && !readAtStart ? this.#skipFirst() : undefined
    this.#helper = await HelperProcess.start({
      ...watch,
      env,
      clock,
      logger,
      onEvent: ({ event }) => (event === 'ready' ? this.#onReady() : this.#onChanged()),
      onTrouble: (message) => {
        this.#isAway = message !== undefined
        if (this.#isAway) this.#isFound = true
        if (message === undefined) events.onTrouble(undefined)
        else events.onLost(message)
      },
    })
    await skipped
    if (readAtStart && (types ?? []).length === 0) void this.#lookAgain()
  }

  /** Nothing seems to be there: the watch would have told by the end of a second look. */
  async #lookAgain(): Promise<void> {
    const { events, logger } = this.#options
    try {
      const types = await this.#listFirst()
      const isEmpty = (types ?? []).length === 0 && !this.#hasChanged
      if (!isEmpty || this.#isClosed) return
      this.#isFound = false
      events.onChange('nobody')
    } catch (error) {
      logger.debug('Cannot see what is on the clipboard', { reason: messageOf(error) })
    }
  }

  /** KWin says nothing of an empty clipboard, and wl-paste waits for ever: `undefined` then. */
  async #listFirst(): Promise<readonly string[] | undefined> {
    const { clock } = this.#options
    const late = new AbortController()
    const { signal } = late
    const cancel = clock.after(FIRST_CHANGE_MS, () => late.abort())
    try {
      return await listTypes({ env: this.#env, clock, signal })
    } catch (error) {
      if (!signal.aborted) throw error
      return undefined
    } finally {
      cancel()
    }
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
    this.#hasChanged = true
    if (this.#isClosed) return
    const { events, wasCutOff = false } = this.#options
    const isNobodys = this.#isFound && wasCutOff && isLeftOver(this.#env)
    const owner = isNobodys ? 'nobody' : this.#isFound ? 'found' : 'another'
    this.#isFound = false
    if (this.#skip === undefined) events.onChange(owner)
    else this.#skip()
  }

  #own(copy: WlCopy): void {
    this.#pending = undefined
    this.#owner = copy
    copy.confirm()
  }

  /**
   * Confirms what is there. Of what is not shared nobody can tell whose it is by its content; but
   * if somebody else had copied, wl-copy would end.
   */
  #look(copy: WlCopy): void {
    const { clock, logger } = this.#options
    listTypes({ env: this.#env, clock }).then(
      (types) => {
        if (types.includes(copy.type) && this.#pending === copy) this.#own(copy)
      },
      (error: unknown) => {
        logger.debug('Cannot see what is on the clipboard', { reason: messageOf(error) })
      },
    )
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
    const { logger, events } = this.#options
    const look = async (): Promise<void> => {
      const types = await this.#listFirst()
      if (types?.length === 0) this.#isFound = false
      const isFree = (types ?? []).length === 0 || this.#owner !== undefined
      if (isFree && !this.#isClosed) events.onBack(this.#isOursLost)
    }
    look().catch((error: unknown) => {
      logger.debug('Cannot catch up with the clipboard', { reason: messageOf(error) })
    })
  }
}
