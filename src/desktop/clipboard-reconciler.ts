/**
 * Keeps the clipboard of a system as it should be, and reports what people copy. It asks three
 * questions, whatever the system:
 *
 * 1. What should be there? The newest push, until somebody copies: `#desired`.
 * 2. May it be written now? Not during a pause, and not in a loop; when the system is out of reach,
 *    its adapter says so. A push that has to wait is written as soon as the reason is gone.
 * 3. Is what was read an echo? What was written last may come back: see `echoes.ts`.
 * @module
 */

import { once } from 'node:events'
import { describeFailure, messageOf } from '../lib/describe-failure.ts'
import { Semaphore } from '../lib/semaphore.ts'
import type {
  ClipboardEvents,
  ClipboardOwner,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../ports/system-clipboard.ts'
import { ClipboardHeld, CopyTooLarge, OutOfReach } from './clipboard-errors.ts'
import { ClipboardTrouble } from './clipboard-trouble.ts'
import { Echoes, type Expected, type Written } from './echoes.ts'
import { LoopGuard } from './loop-guard.ts'
import { isLeftOut } from './read-copy.ts'
import type { OnJudged, ReconcilerOptions } from './reconciler-options.ts'

type KeptClipboard = Omit<SystemClipboard, 'kind'>

/** One for all: programs that change the clipboard without end should cost little. */
const OVERTAKEN = new Error('The clipboard has changed again')

/** A push that should be on the clipboard. */
interface Desired {
  /** When it was pushed. */
  readonly at: number
  /** `undefined` while it is prepared, may not be wanted, or cannot be had or written. */
  content: OfferedContent | undefined
  isWritten: boolean
}

/** A change of the clipboard. */
interface Seen {
  /** It happened then, or before. */
  readonly at: number
  /** Whether it was there already, whatever has come since. */
  readonly isFound: boolean
}

interface NextReading extends Seen {
  readonly reading: AbortController
  readonly isHeldBack: boolean
}

/** The clipboard as the daemon has it, whatever the system. */
export class ClipboardReconciler {
  readonly #options: ReconcilerOptions
  readonly #trouble: ClipboardTrouble
  readonly #echoes: Echoes
  readonly #loop: LoopGuard
  readonly #reads = new Semaphore(1)
  readonly #writes = new Semaphore(1)
  readonly #system: Promise<KeptClipboard>
  readonly #stopListening: () => void
  /** `undefined` once somebody copied: then what they copied should stay. See `#want`. */
  #desired: Desired | undefined
  /** `undefined` once it was asked for, or something is newer. */
  #before: ReconcilerOptions['before'] | undefined
  /** Ends the conversion of what is desired. */
  #converting: AbortController | undefined
  #writing: Written | undefined
  /** Whether what was written last may be on the clipboard, even if a copy may be newer. */
  #mayBeOurs = false
  /** Ends when what is being read is of no interest any more; `undefined` when nothing is read. */
  #reading: AbortController | undefined
  /** The start for what was there already, which may be older than anything that came since. */
  #readSince = 0
  readonly #startedAt: number
  /** When the copy that is on the clipboard was made; 0 for what was there already. */
  #copiedAt = 0
  /** The change that is read next: the newest alone, however many come meanwhile. */
  #next: NextReading | undefined
  #isClosed = false

  /** Begins to open the clipboard of a system, which it keeps. */
  constructor(
    openSystem: (events: ClipboardEvents) => Promise<KeptClipboard>,
    options: ReconcilerOptions,
  ) {
    const { clock, logger, pause } = options
    this.#options = options
    this.#startedAt = this.#now()
    this.#before = options.before
    this.#trouble = new ClipboardTrouble((worst) => this.#isClosed || options.onTrouble(worst))
    this.#echoes = new Echoes({ clock, logger })
    this.#loop = new LoopGuard(clock, (message) => {
      this.#trouble.loop = message
      if (message === undefined) this.#writeWaiting()
    })
    this.#stopListening = pause.onChange(() => pause.isOn || this.#writeWaiting())
    this.#system = openSystem({
      onChange: (owner) => this.#onChange(owner),
      onLost: (reason) => {
        this.#stopReading()
        this.#copiedAt = 0
        this.#trouble.system = reason
      },
      onBack: (isOursLost) => {
        if (isOursLost) this.#mayBeOurs = false
        if (isOursLost && this.#desired !== undefined) this.#desired.isWritten = false
        this.#writeWaiting()
      },
      onTrouble: (message) => (this.#trouble.system = message),
    })
  }

  /** Resolves once the clipboard is opened. @throws What opening it throws. */
  async opened(): Promise<void> {
    await this.#system
  }

  /**
   * Says what should be on the clipboard from now on. What was offered before is not written any
   * more. Resolves when other programs can paste the content, or when it has to wait.
   *
   * @param at When it was stamped, by `now`; a later copy comes first, also while that is read.
   * @throws {Error} When it cannot be written, or not yet, because the clipboard is out of reach.
   */
  async offer(
    content: OfferedContent | Promise<OfferedContent>,
    at: number = this.#now(),
  ): Promise<void> {
    const desired: Desired = { at, content: undefined, isWritten: false }
    if (at >= this.#copiedAt) this.#want(desired)
    desired.content = await content
    if (this.#isClosed) throw new Error('The clipboard is closed')
    if (!this.#reading || at >= this.#readSince) await this.#write(desired)
  }

  /**
   * Something that was copied is the newest item: what has not been written yet is not to be any
   * more. What was written over the copy while that was shared gives way to it, unless what is read
   * just then turns out to be a newer copy.
   */
  async dropWaiting(copied?: OfferedContent): Promise<void> {
    const isOver = this.#mayBeOurs || this.#writing !== undefined
    if (isOver && copied !== undefined && !this.#isClosed) await this.offer(copied, this.#copiedAt)
    else if (this.#desired?.isWritten !== true) this.#want(undefined)
  }

  /** Whether the clipboard may have something older than what should be there. */
  get isBehind(): boolean {
    const isUnseen = this.#options.wasCutOff === true && this.#before !== undefined
    return isUnseen || this.#desired?.isWritten === false
  }

  /** Lets go of the clipboard. Nothing is called back afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#want(undefined)
    this.#stopReading()
    this.#loop.close()
    this.#stopListening()
    const system = await this.#system
    await system.close()
    await Promise.all([this.#reads.idle(), this.#writes.idle()])
  }

  #onChange(owner: ClipboardOwner): void {
    if (this.#isClosed) return
    this.#stopReading()
    if (owner === 'us') return
    if (owner === 'nobody') {
      this.#copiedAt = 0
      this.#mayBeOurs = false
      if (this.#desired?.isWritten === true) this.#want(undefined)
      if (this.#before === undefined) this.#writeWaiting()
      else this.#wantBefore(this.#before, 'nothing')(true)
      return
    }
    if (owner === 'another') this.#before = undefined
    const reading = new AbortController()
    this.#reading = reading
    const seen = { at: this.#now(), isFound: owner === 'found' }
    this.#readSince = seen.isFound ? this.#startedAt : seen.at
    const isHeldBack = this.#isHeldBack(owner)
    // While something is being written, only its content tells whose the change is.
    if (!isHeldBack || this.#writing !== undefined) {
      const isAwaited = this.#next !== undefined
      this.#next = { reading, isHeldBack, ...seen }
      if (!isAwaited) void this.#reads.run(() => this.#readNext())
      return
    }
    this.#stopReading()
    this.#onForeign(seen)
  }

  #now(): number {
    const { clock, now = () => clock.now() } = this.#options
    return now()
  }

  /** Whether what was copied is of a pause, or may be. */
  #isHeldBack(owner: 'another' | 'found'): boolean {
    const { pause, logger } = this.#options
    if (pause.isOn) return true
    if (owner === 'another') pause.noteChange()
    if (!pause.isHoldingBack) return false
    logger.info('What is on the clipboard may have been copied during a pause: it is not shared')
    return true
  }

  /** @returns Offers what `find` finds over what is older, unless anything newer has come. */
  #wantBefore(find: () => Promise<OfferedContent | undefined>, found?: 'nothing'): OnJudged {
    const desired: Desired = { at: 0, content: undefined, isWritten: false }
    this.#want(desired)
    return async (isOlder) => {
      if (desired !== this.#desired) return
      if (isOlder) desired.content = await this.#find(find)
      const isDone = !isOlder || (found === 'nothing' && desired.content === undefined)
      if (isDone && desired === this.#desired) this.#want(undefined)
      else this.#writeWaiting()
    }
  }

  async #find(find: () => Promise<OfferedContent | undefined>) {
    try {
      return await find()
    } catch (error) {
      const failure = describeFailure(error)
      this.#options.logger.warn('Cannot offer what was current before', { ...failure })
      return undefined
    }
  }

  #stopReading(): void {
    this.#reading?.abort(OVERTAKEN)
    this.#reading = undefined
  }

  async #readNext(): Promise<void> {
    const next = this.#next
    this.#next = undefined
    if (next === undefined || next.reading.signal.aborted) return
    const { signal } = next.reading
    try {
      const system = await this.#system
      const { expected } = this.#echoes
      const copied = await system.read(signal)
      if (signal.aborted) return
      this.#trouble.system = undefined
      if (copied !== 'overtaken') await this.#judge(copied, next, expected)
    } catch (error) {
      if (!signal.aborted) this.#onUnreadable(error, next)
    }
    if (signal.aborted) return
    this.#reading = undefined
    this.#writeWaiting()
  }

  /** @throws {CopyTooLarge} When it is larger than what is shared. */
  async #judge(copied: CopiedContent | undefined, next: NextReading, expected: Expected) {
    const { at, isHeldBack, isFound, reading } = next
    const { before, limits, onCopy, pause, wasCutOff = false } = this.#options
    if (copied === undefined || isLeftOut(copied, limits)) return this.#onNotShared(next)
    // Some programs keep what was written before a crash, in a form of their own.
    const overtaken = () => once(reading.signal, 'abort').then(() => undefined)
    const isLeft = isFound && wasCutOff && before !== undefined
    const kept = isLeft ? await Promise.race([this.#find(before), overtaken()]) : undefined
    const known = kept && this.#echoes.add(kept)
    const echo = await this.#echoes.find(copied, expected, reading.signal)
    if (reading.signal.aborted) return
    if (echo !== undefined && echo !== known) return this.#onEcho(echo)
    this.#onForeign(next)
    if (this.#desired !== undefined) return
    if (echo === undefined && (isHeldBack || pause.isOn)) return
    const onJudged = isFound && before !== undefined ? this.#wantBefore(before) : undefined
    if (echo !== undefined) return onJudged?.(true)
    this.#loop.noteCopy()
    onCopy(copied, at, onJudged)
  }

  #onUnreadable(error: unknown, seen: Seen): void {
    // The adapter says so, and announces the change again; the copy is newer than what waits.
    if (error instanceof ClipboardHeld) return this.#onNotShared(seen)
    if (error instanceof OutOfReach) return
    if (error instanceof CopyTooLarge) {
      const echo = this.#echoes.largeImage(this.#options.limits.maxImageBytes)
      if (echo !== undefined) return this.#onEcho(echo)
    }
    this.#onNotShared(seen)
    const reason = messageOf(error)
    this.#options.logger.debug('Cannot read what was copied', { reason })
    this.#trouble.system = reason
  }

  #onEcho(echo: Written): void {
    this.#options.logger.debug('What was written came back', { kind: echo.kind })
    if (echo === this.#writing) this.#confirm('ours')
  }

  /** Somebody copied, and what was written last is no echo any more. */
  #onForeign(seen: Seen): void {
    this.#echoes.forget(this.#writing)
    this.#onNotShared(seen)
  }

  /** Somebody copied something that is not shared, over which nothing older is written either. */
  #onNotShared(seen: Seen): void {
    if (!seen.isFound) this.#copiedAt = seen.at
    if (!this.#isOvertaken(seen)) this.#want(undefined)
    if (this.#writing === undefined) this.#mayBeOurs = false
    else this.#confirm('foreign')
  }

  /** Whether a push is newer that is still to be written, or just is. */
  #isOvertaken({ at }: Seen): boolean {
    return this.#desired !== undefined && this.#desired.at > at
  }

  #confirm(seen: 'ours' | 'foreign'): void {
    void this.#system.then((system) => system.confirm?.(seen))
  }

  #write(desired: Desired): Promise<void> {
    return this.#writes.run(async () => {
      const { content } = desired
      if (content === undefined || desired.isWritten || desired !== this.#desired) return
      if (this.#options.pause.isOn || !this.#loop.mayWrite()) return
      await this.#writeNow(desired, content)
    })
  }

  async #writeNow(desired: Desired, content: OfferedContent): Promise<void> {
    const before = this.#reading
    const written = this.#echoes.add(content)
    this.#writing = written
    try {
      const system = await this.#system
      await system.write(content)
    } catch (error) {
      const isWaiting = error instanceof OutOfReach
      if (!isWaiting) desired.content = undefined
      this.#echoes.remove(written)
      throw error
    } finally {
      this.#writing = undefined
    }
    desired.isWritten = true
    this.#mayBeOurs = true
    this.#options.pause.noteChange()
    before?.abort(OVERTAKEN)
    if (before === this.#reading) this.#reading = undefined
    this.#echoes.confirm(written)
    this.#trouble.system = undefined
    void this.#convert(desired, content)
  }

  /** Replaces what was written, which is there meanwhile, unless anything newer came. */
  async #convert(desired: Desired, content: OfferedContent): Promise<void> {
    if (desired !== this.#desired) return
    const converting = new AbortController()
    this.#converting = converting
    try {
      const system = await this.#system
      const converted = await system.convert?.(content, converting.signal)
      if (converted === undefined || desired !== this.#desired) return
      this.#want({ ...desired, content: converted, isWritten: false })
      this.#writeWaiting()
    } catch (error) {
      if (converting.signal.aborted) return
      this.#options.logger.debug('Cannot convert what was pushed', { ...describeFailure(error) })
    }
  }

  /** Says what should be there now; what it was before needs no conversion any more. */
  #want(desired: Desired | undefined): void {
    this.#converting?.abort()
    this.#converting = undefined
    this.#before = undefined
    this.#desired = desired
  }

  /** Writes the push that had to wait, if there is one, unless somebody seems to have copied. */
  #writeWaiting(): void {
    const desired = this.#desired
    if (desired === undefined || this.#reading !== undefined) return
    this.#write(desired).catch((error: unknown) => {
      const failure = describeFailure(error)
      this.#options.logger.warn('Cannot put on the clipboard what had to wait', { ...failure })
    })
  }
}
