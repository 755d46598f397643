/**
 * The connection to one other daemon: hears of its changes, pulls what happened after what is
 * current here, and pushes what happened here after what is current there.
 *
 * It compares and moves the newest item only, whatever came before. So nothing is queued, nothing
 * has to be replayed after an outage, and in whatever way daemons are connected, an item comes to
 * each of them once: there it is known already, and the stamps say who is late.
 * @module
 */

import { backOff } from '../lib/back-off.ts'
import { ClientError, mayPass } from '../client/client-error.ts'
import type { WatchState } from '../client/follower.ts'
import type { LatestStamped } from '../client/latest.ts'
import { sleep } from '../lib/clock.ts'
import { DomainError } from '../core/domain-error.ts'
import { believedStamp, comparePlaces, type Believes } from '../core/stamp.ts'
import { placeOf } from '../hashing/place-of.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { shareText, withChanges } from '../lib/long-text.ts'
import { Seldom } from '../lib/seldom.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { PeerState, PeerSummary } from '../ports/peers.ts'
import type { DaemonClient } from './open-client.ts'
import { NewestTransfer } from './newest-transfer.ts'
import { isUnfit, pullItem, type PullItemDeps } from './pull-item.ts'
import { pushItem } from './push-item.ts'

/** The client of the other daemon, and the ports of this one. */
export interface PeerConnectionDeps extends Omit<PullItemDeps, 'signal'> {
  readonly client: Pick<DaemonClient, 'watch' | 'download' | 'upload' | 'apply'>
  readonly changes: ChangeFeed
  readonly logger: Logger
  /** Id of this member, for items that have no stamp. */
  readonly memberId: string
  /** Called when the status may be another. */
  readonly onChange: () => void
}

/** After its credentials were refused, a connection asks again as rarely as this. */
const REFUSED_RETRY_MS = 60_000

/** An item on its way from one daemon to the other. */
type Move =
  | { readonly kind: 'pull'; readonly document: LatestStamped }
  | { readonly kind: 'push'; readonly stored: StoredItem }

/** The connection to one other daemon, until it is closed. */
export class PeerConnection {
  readonly #name: string
  readonly #deps: PeerConnectionDeps
  readonly #ending = new AbortController()
  #state: PeerState = 'connecting'
  #connectionError: string | undefined
  /** Why the item of the other daemon is not even looked at. */
  #refusal: string | undefined
  /** The last known document of the other daemon; `undefined` without an item, or when unknown. */
  #remote: LatestStamped | undefined
  #isConnected = false
  readonly #transfer: NewestTransfer<Move>
  /** One that is broken or hostile may fail in two ways by turns, a hundred times a second. */
  readonly #told: Seldom
  #cancelRetry: () => void = () => undefined
  #done: Promise<void> = Promise.resolve()

  constructor(name: string, deps: PeerConnectionDeps) {
    this.#name = name
    this.#deps = deps
    this.#told = new Seldom(deps)
    this.#transfer = new NewestTransfer({
      next: () => this.#next(),
      isOutdated: (move) => this.#isOutdated(move),
      move: (move, signal) => this.#run(move, signal),
      onSuccess: (move) => this.#onSuccess(move),
      onFailure: (error, _move, failures) => this.#onFailure(error, failures),
      onError: (error) => this.#tellTrouble(error),
    })
  }

  /** The error is the last failure, until the connection works. */
  get status(): Pick<PeerSummary, 'state' | 'error'> {
    const error = this.#connectionError ?? this.#refusal ?? this.#transfer.error
    return { state: this.#state, error }
  }

  /** Connects, and stays connected until {@link close}. */
  start(): void {
    const { changes } = this.#deps
    const request = (): void => this.#transfer.request()
    this.#done = this.#follow().finally(changes.subscribe(request, request))
  }

  async close(): Promise<void> {
    const reason = new Error('The connection was closed')
    this.#ending.abort(reason)
    this.#cancelRetry()
    await Promise.all([this.#done, this.#transfer.close(reason)])
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        const onState = (state: WatchState): void => this.#onState(state)
        for await (const document of this.#deps.client.watch({ signal, onState })) {
          this.#remote = document
          this.#transfer.request()
        }
      } catch (error) {
        if (signal.aborted) return
        this.#isConnected = false
        this.#enter('refused', messageOf(error))
        // Aborted, it ends the loop at its next turn.
        await sleep(this.#deps.clock, REFUSED_RETRY_MS, signal).catch(() => undefined)
      }
    }
  }

  #onState(state: WatchState): void {
    this.#isConnected = state.name !== 'waiting'
    const refused = 'refused' in state ? state.refused : undefined
    // The item there is unknown; that daemon decides by itself what is newer.
    if (refused !== undefined) this.#remote = undefined
    this.#setRefusal(refused?.message)
    this.#enter(state.name, 'reason' in state && state.reason ? messageOf(state.reason) : undefined)
    if (!this.#isConnected) return
    this.#transfer.forgive()
    this.#transfer.request()
  }

  #enter(state: PeerState, error: string | undefined): void {
    const [wasWell, isWell] = [this.#state === 'connected', state === 'connected']
    this.#state = state
    this.#connectionError = isWell ? undefined : error
    if (isWell !== wasWell) {
      const message = isWell ? 'Joined another daemon' : 'Lost another daemon'
      this.#deps.logger.info(message, { peer: this.#name, reason: error })
    }
    this.#deps.onChange()
  }

  /** Compares both sides: who is late gets the item of the other one. */
  #next(): Move | undefined {
    this.#cancelRetry()
    if (!this.#isConnected) return undefined
    return planMove(this.#deps.latest.current, this.#remote, this.#deps.circleTime.believes)
  }

  /** Nothing waits for an item that both sides have by now, or one has something later of. */
  #isOutdated(move: Move): boolean {
    const { latest, circleTime } = this.#deps
    const due = planMove(latest.current, this.#remote, circleTime.believes)
    return due?.kind !== move.kind || contentIdOf(due) !== contentIdOf(move)
  }

  #run(move: Move, signal: AbortSignal): Promise<void> {
    if (move.kind === 'pull') return pullItem(move.document, { ...this.#deps, signal })
    return this.#push(move.stored, signal)
  }

  async #push(stored: StoredItem, signal: AbortSignal): Promise<void> {
    const { item } = stored
    const { memberId, circleTime } = this.#deps
    const own = item.stamp ?? { at: item.activatedAt, member: memberId }
    const stamp = believedStamp(own, circleTime.believes)
    const before = this.#remote
    const contentId = await pushItem({ stored, stamp }, { ...this.#deps, signal })
    if (contentId === item.contentId) {
      // Unless something is there by now of which the watch has told.
      if (this.#remote === before) {
        const { contentHash: hash } = item
        this.#remote = withChanges(item, { ...SENT, hash, stamp })
      }
    } else if (before?.stamp !== undefined && !circleTime.believes(before.stamp.at)) {
      throw new DomainError('STAMP_AHEAD', AHEAD_THERE)
    }
    // Otherwise something newer is there, of which the watch will tell.
  }

  #setRefusal(refusal: string | undefined): void {
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    this.#tellTrouble(refusal)
  }

  #tellTrouble(reason: string | undefined): void {
    if (reason !== undefined) {
      this.#told.warn('Cannot exchange an item', { peer: this.#name, reason })
    }
    this.#deps.onChange()
  }

  /** Has the text that both sides have in memory once. */
  #onSuccess(move: Move): void {
    const item = this.#deps.latest.current?.item
    if (move.kind === 'push' || item?.contentId !== move.document.contentId) return
    if (item !== undefined) shareText(move.document, item)
  }

  #onFailure(error: unknown, failures: number): void {
    if (this.#ending.signal.aborted) return
    // The others need something to change, here or there; the clock that refuses a stamp goes on,
    // and a full disk there gets room without a word.
    const isFinal =
      error instanceof ClientError
        ? !mayPass(error) && error.problem !== 'STAMP_AHEAD' && error.status !== 507
        : isUnfit(error)
    if (isFinal) return
    this.#cancelRetry = this.#deps.clock.after(backOff(failures), () => this.#transfer.request())
  }
}

const AHEAD_THERE =
  'The item there has a time that is too far ahead, and stays; update that daemon, or set the clocks'

/** Fields that nobody reads of a document that we sent ourselves. */
const SENT = { hasData: false, size: 0, etag: undefined } as const

/**
 * Decides which of two daemons gives its item to the other: by the stamps, also where only these
 * differ, else what is copied later at the one that is behind would be lost. A document without a
 * stamp counts as older, and its daemon would take a stamp alone for a change.
 */
function planMove(
  stored: StoredItem | undefined,
  document: LatestStamped | undefined,
  believes: Believes,
): Move | undefined {
  if (document?.contentId === undefined) return stored && { kind: 'push', stored }
  if (stored === undefined) return { kind: 'pull', document }
  const { item } = stored
  const here = placeOf(item, item.contentHash, believes)
  const there = placeOf(document, document.hash, believes)
  const order = comparePlaces(there, here)
  if (order > 0) return { kind: 'pull', document }
  if (order === 0) return undefined
  const isAlike = there.rank === here.rank
  return isAlike && document.stamp === undefined ? undefined : { kind: 'push', stored }
}

function contentIdOf(move: Move): string | undefined {
  return move.kind === 'pull' ? move.document.contentId : move.stored.item.contentId
}
