/**
 * The link to one other daemon: hears of its changes, pulls what happened after what is current
 * here, and pushes what happened here after what is current there.
 *
 * It compares and moves the newest item only, whatever came before. So nothing is queued, nothing
 * has to be replayed after an outage, and in whatever way daemons are linked, an item comes to each
 * of them once: there it is known already, and the stamps say who is late.
 *
 * @module
 */

import { backOff } from '../core/back-off.ts'
import { ClientError } from '../client/client-error.ts'
import type { DaemonClient } from '../client/connect-daemon.ts'
import type { WatchState } from '../client/follower.ts'
import type { LatestStamped } from '../client/latest.ts'
import { sleep, type Timing } from '../client/timing.ts'
import { DomainError } from '../core/domain-error.ts'
import { believedStamp } from '../core/stamp.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { BlobStore } from '../ports/blob.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { GroupTime } from '../ports/group-time.ts'
import type { InboundPipeline } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { PeerState } from '../ports/peers.ts'
import { planMove } from './plan-move.ts'
import { isTooLarge, pullItem } from './pull-item.ts'
import { pushItem } from './push-item.ts'
import { mayPass } from './resumed-download.ts'

export interface PeerLinkDeps {
  readonly client: Pick<DaemonClient, 'watch' | 'download' | 'upload' | 'apply'>
  readonly latest: Pick<LatestItem, 'current' | 'binary'>
  readonly inbound: InboundPipeline
  readonly blobs: Pick<BlobStore, 'receive'>
  readonly changes: ChangeFeed
  readonly groupTime: Pick<GroupTime, 'believes'>
  readonly timing: Timing
  readonly logger: Logger
  /** Id of this member, for items that have no stamp. */
  readonly memberId: string
  readonly maxFileBytes: number
  /** Called when the status may be another. */
  readonly onChange: () => void
}

export interface LinkStatus {
  readonly state: PeerState
  /** What went wrong last, while it is not well again. */
  readonly error: string | undefined
}

/** After its credentials were refused, a link asks again as rarely as this. */
const REFUSED_RETRY_MS = 60_000

export class PeerLink {
  readonly #name: string
  readonly #deps: PeerLinkDeps
  readonly #ending = new AbortController()
  #state: PeerState = 'connecting'
  #linkError: string | undefined
  #moveError: string | undefined
  /** Why the item of the other daemon is not even looked at. */
  #refusal: string | undefined
  /** What the other daemon told last; `undefined` when it has no item, or nothing is known. */
  #remote: LatestStamped | undefined
  #isConnected = false
  /** The transfer under way, and for which content. */
  #transfer: { readonly contentId: string | undefined; readonly abort: AbortController } | undefined
  /** What is under way; `undefined` while there is nothing to do. */
  #moving: Promise<void> | undefined
  #isDue = false
  #failures = 0
  #cancelRetry: () => void = () => undefined
  #done: Promise<void> = Promise.resolve()

  constructor(name: string, deps: PeerLinkDeps) {
    this.#name = name
    this.#deps = deps
  }

  get status(): LinkStatus {
    return { state: this.#state, error: this.#linkError ?? this.#refusal ?? this.#moveError }
  }

  /** Connects, and stays connected until {@link close}. */
  start(): void {
    const unsubscribe = this.#deps.changes.subscribe(() => this.#move())
    this.#done = this.#follow().finally(unsubscribe)
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error('The link was closed'))
    this.#cancelRetry()
    this.#transfer?.abort.abort(this.#ending.signal.reason)
    await Promise.all([this.#done, this.#moving])
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        const documents = this.#deps.client.watch({
          signal,
          onState: (state) => this.#onState(state),
        })
        for await (const document of documents) {
          this.#remote = document
          this.#move()
        }
      } catch (error) {
        if (signal.aborted) return
        this.#isConnected = false
        this.#enter('refused', messageOf(error))
        // Aborted, it ends the loop at its next turn.
        await sleep(this.#deps.timing, REFUSED_RETRY_MS, signal).catch(() => undefined)
      }
    }
  }

  #onState(state: WatchState): void {
    this.#isConnected = state.name !== 'waiting'
    const refused = 'refused' in state ? state.refused : undefined
    // Nobody knows what is there; it takes what is newer.
    if (refused !== undefined) this.#remote = undefined
    this.#setRefusal(refused?.message)
    this.#enter(state.name, 'reason' in state && state.reason ? messageOf(state.reason) : undefined)
    if (!this.#isConnected) return
    this.#failures = 0
    this.#move()
  }

  #enter(state: PeerState, error: string | undefined): void {
    const wasWell = this.#state === 'connected'
    this.#state = state
    this.#linkError = state === 'connected' ? undefined : error
    if (state === 'connected' || wasWell) {
      const message = state === 'connected' ? 'Joined another daemon' : 'Lost another daemon'
      this.#deps.logger.info(message, { peer: this.#name, reason: error })
    }
    this.#deps.onChange()
  }

  /** Brings both sides to the same item, now or right after what is under way. */
  #move(): void {
    this.#abortOutdated()
    this.#isDue = true
    if (this.#ending.signal.aborted) return
    this.#moving ??= this.#moveAll()
  }

  async #moveAll(): Promise<void> {
    // From the next turn on, so that it is known to be under way.
    await Promise.resolve()
    while (this.#isDue && !this.#ending.signal.aborted) {
      this.#isDue = false
      this.#cancelRetry()
      const { current } = this.#deps.latest
      const { believes } = this.#deps.groupTime
      const plan = this.#isConnected ? planMove(current, this.#remote, believes) : 'nothing'
      if (plan === 'nothing') continue
      const contentId = plan === 'pull' ? this.#remote?.contentId : current?.item.contentId
      const abort = new AbortController()
      this.#transfer = { contentId, abort }
      try {
        if (plan === 'pull') await this.#pull(abort.signal)
        else await this.#push(abort.signal)
        this.#setMoveError(undefined)
        this.#failures = 0
      } catch (error) {
        this.#onFailure(error, abort.signal)
      } finally {
        this.#transfer = undefined
      }
    }
    this.#moving = undefined
  }

  async #pull(signal: AbortSignal): Promise<void> {
    if (this.#remote !== undefined) await pullItem(this.#remote, { ...this.#deps, signal })
  }

  async #push(signal: AbortSignal): Promise<void> {
    const { current } = this.#deps.latest
    if (current === undefined) return
    const { item } = current
    const { memberId, groupTime } = this.#deps
    const own = item.stamp ?? { at: item.activatedAt, member: memberId }
    const stamp = believedStamp(own, groupTime.believes)
    const before = this.#remote
    const contentId = await pushItem({ stored: current, stamp }, { ...this.#deps, signal })
    if (contentId === item.contentId) {
      const { type, text, dataName, mediaType } = item
      // Unless something is there by now of which the watch has told.
      if (this.#remote === before) {
        this.#remote = { ...SENT, type, text, dataName, mediaType, contentId, stamp }
      }
    } else if (before?.stamp !== undefined && !groupTime.believes(before.stamp.at)) {
      throw new DomainError('STAMP_AHEAD', AHEAD_THERE)
    }
    // Otherwise something newer is there, of which the watch will tell.
  }

  #setMoveError(error: string | undefined): void {
    if (error === this.#moveError) return
    this.#moveError = error
    this.#tellTrouble(error)
  }

  #setRefusal(refusal: string | undefined): void {
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    this.#tellTrouble(refusal)
  }

  #tellTrouble(reason: string | undefined): void {
    if (reason !== undefined) {
      this.#deps.logger.warn('Cannot exchange an item', { peer: this.#name, reason })
    }
    this.#deps.onChange()
  }

  #onFailure(error: unknown, signal: AbortSignal): void {
    if (signal.aborted || this.#ending.signal.aborted) return
    this.#setMoveError(messageOf(error))
    // The others need something to change, here or there; the clock that refuses a stamp goes on.
    const isAhead = error instanceof ClientError && error.problem === 'STAMP_AHEAD'
    const isFinal = error instanceof ClientError ? !isAhead : isTooLarge(error)
    if (!mayPass(error) && isFinal) return
    this.#failures += 1
    const { timing } = this.#deps
    const delay = backOff(this.#failures, timing.random())
    this.#cancelRetry = timing.after(delay, () => this.#move())
  }

  /** Lets go of a transfer whose item nobody needs any more. */
  #abortOutdated(): void {
    const { contentId, abort } = this.#transfer ?? {}
    const wanted = [this.#deps.latest.current?.item, this.#remote]
    if (!wanted.some((item) => item?.contentId === contentId)) abort?.abort(OUTDATED)
  }
}

const OUTDATED = new Error('Something newer is there')

const AHEAD_THERE =
  'The item there has a time that is too far ahead, and stays; update that daemon, or set the clocks'

/** What nobody asks of a document that we sent ourselves. */
const SENT = { hasData: false, size: 0, hash: '', etag: undefined } as const
