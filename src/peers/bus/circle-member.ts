/**
 * This daemon as a member of a circle on a bus: tells what it has, and gets what others have that
 * is later.
 *
 * Signals may be lost, and nobody repeats them. So everybody who shows that they are behind, or who
 * asks after an outage, is answered by one who is not; and now and then somebody says what they
 * have although nothing happened. All that is kept is bounded, whatever comes.
 * @module
 */

import { backOff } from '../../lib/back-off.ts'
import type { Clock } from '../../lib/clock.ts'
import { comparePlaces, type Place } from '../../core/stamp.ts'
import { placeOf } from '../../hashing/place-of.ts'
import { Lru } from '../../lib/lru.ts'
import { messageOf } from '../../lib/describe-failure.ts'
import { Seldom } from '../../lib/seldom.ts'
import { Subscribers } from '../../lib/subscribers.ts'
import type { BusState, BusStatus, SignalBus } from '../../ports/bus.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { CircleTime } from '../../ports/circle-time.ts'
import type { LatestItem } from '../../ports/latest-item.ts'
import type { Logger } from '../../ports/logger.ts'
import type { CircleSecrets } from './circle-key.ts'
import type { Membership } from './membership.ts'
import { OfferPuller, type OfferPullerDeps } from './offer-puller.ts'
import { MAX_ORIGINS, ReplayGuard } from './replay-guard.ts'
import type { Sealer } from './sealer.ts'
import { encodeSignal, openSignal, type Signal } from './signal.ts'

/** The shortest time between two signals of this member. */
const PAUSE_MS = 1000

/** The longest random wait before an answer: the others hear the first one, and keep quiet. */
const ANSWER_SPREAD_MS = 500

/** Between two beacons, with as much again left to chance. */
const BEACON_MS = 45_000
const BEACON_SPREAD_MS = 30_000

/** Beacons that may be left out in a row because others say the same. */
const MAX_SILENCE = 4

const LATELY_MS = 600_000

/** Starts of members that were heard of are written down together; later where there is no room. */
const SAVE_MS = 2000
const SAVE_AGAIN_MS = 60_000

const TWIN =
  'Another daemon speaks in the name of this one, with a copy of its group.json: going on under a new one'

const AHEAD =
  'A member tells of an item whose time is too far ahead of the clock, which is ignored; update it, ' +
  'or set the clocks'

/** The parts and ports of a member. */
export interface CircleMemberDeps {
  readonly bus: SignalBus
  readonly brokers: readonly string[]
  readonly secrets: Pick<CircleSecrets, 'id'>
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly membership: Pick<Membership, 'state' | 'save' | 'rename'>
  readonly latest: Pick<LatestItem, 'current'>
  readonly changes: ChangeFeed
  readonly circleTime: CircleTime
  readonly clock: Clock
  /** Gives numbers from 0 to below 1. */
  readonly random?: (() => number) | undefined
  readonly logger: Logger
  /** Where others reach this gateway, as it is now. */
  readonly url: () => string
  readonly pull: OfferPullerDeps['pull']
}

type Task = 'beacon' | 'answer' | 'ask' | 'save'

/** This daemon on the bus, until it is closed. */
export class CircleMember {
  readonly #deps: CircleMemberDeps
  readonly #random: () => number
  readonly #guard: ReplayGuard
  /** The functions that cancel what is planned. */
  readonly #planned = new Map<Task, () => void>()
  /** When each of the others was heard last. */
  readonly #heard = new Lru<string, number>(MAX_ORIGINS)
  readonly #puller: OfferPuller
  /** A member that is broken or hostile may make the same trouble a hundred times a second. */
  readonly #told: Seldom
  readonly #watchers = new Subscribers()
  /** The member whose stamp was too far ahead, until it tells another. */
  #ahead: string | undefined
  #isClosed = false
  #unsubscribe = (): void => undefined
  #state: BusState = 'connecting'
  #busError: string | undefined
  #refused = 0
  #saidAt = Number.NEGATIVE_INFINITY
  #silence = 0
  #isSaidByOthers = false
  #saving: Promise<void> = Promise.resolve()

  constructor(deps: CircleMemberDeps) {
    this.#deps = deps
    this.#random = deps.random ?? Math.random
    this.#guard = new ReplayGuard(deps.membership.state.known)
    this.#told = new Seldom(deps)
    this.#puller = new OfferPuller({
      pull: deps.pull,
      place: () => this.#place,
      onFailure: (failures) => this.#askLater(failures),
      onTrouble: () => this.#plan('ask'),
      onError: (error) => this.#onPullError(error),
    })
  }

  /** Connects, and stays connected until {@link close}. */
  start(): void {
    const onItem = (): void => this.#onItem()
    this.#unsubscribe = this.#deps.changes.subscribe(onItem, onItem)
    this.#planBeacon()
    this.#deps.bus.open({
      onState: (state, error) => this.#onState(state, error),
      onMessage: (bytes) => this.#onMessage(bytes),
    })
  }

  async close(): Promise<void> {
    const isUnsaved = this.#planned.has('save')
    this.#isClosed = true
    this.#unsubscribe()
    for (const task of this.#planned.keys()) this.#cancel(task)
    if (isUnsaved) this.#save()
    await Promise.all([this.#deps.bus.close(), this.#puller.close(), this.#saving])
  }

  /** Calls `listener` when the status may be another. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  get status(): BusStatus {
    const since = this.#deps.clock.monotonic() - LATELY_MS
    return {
      urls: this.#deps.brokers,
      state: this.#state,
      error: this.#busError ?? (this.#ahead && AHEAD) ?? this.#puller.error,
      group: this.#deps.secrets.id,
      members: [...this.#heard.entries()].filter(([, at]) => at >= since).length,
      refused: this.#refused,
    }
  }

  get #place(): Place | undefined {
    const item = this.#deps.latest.current?.item
    return item?.stamp && placeOf(item, item.contentHash, this.#deps.circleTime.believes)
  }

  #onState(state: BusState, error: string | undefined): void {
    const [before, hadError] = [this.#state, this.#busError]
    this.#state = state
    this.#busError = state === 'connected' ? undefined : (error ?? this.#busError)
    if (state === 'connected') this.#deps.logger.info('Connected to the bus')
    else if (before === 'connected' || (error !== undefined && error !== hadError)) {
      this.#deps.logger.warn('Cannot use the bus', { reason: error })
    }
    if (state === 'connected') this.#publish('ask')
    this.#watchers.notify()
  }

  #onItem(): void {
    this.#puller.onItem()
    // An item that came over the bus is known to the others already.
    if (!this.#puller.hasPulled(this.#place)) this.#publish('have')
  }

  #publish(kind: Signal['kind']): void {
    if (this.#state !== 'connected' || this.#isClosed) return
    const { membership, bus, sealer, latest, url, circleTime } = this.#deps
    const { member: origin, epoch } = membership.state
    const [current, place] = [latest.current?.item, this.#place]
    const item = current && place && { contentId: current.contentId, ...place }
    const signal = { kind, origin, epoch, time: circleTime.now(), url: url(), item }
    bus.publish(sealer.seal(encodeSignal(signal)))
    this.#saidAt = this.#deps.clock.monotonic()
    this.#silence = 0
    this.#cancel('answer')
  }

  #onMessage(bytes: Uint8Array): void {
    if (this.#isClosed) return
    const opened = openSignal(this.#deps.sealer, bytes)
    if (opened === undefined) return this.#refuse()
    const { signal, counter } = opened
    const { origin, epoch } = signal
    const own = this.#deps.membership.state
    if (origin === own.member) return this.#onTwin(epoch - own.epoch)
    const verdict = this.#guard.check(origin, epoch, counter)
    if (verdict === 'seen') return
    if (verdict === 'gap') this.#plan('ask')
    if (verdict === 'start' && !this.#planned.has('save')) this.#after('save', SAVE_MS)
    this.#deps.circleTime.learn(signal.time)
    const isNew = this.#heard.get(origin) === undefined
    this.#heard.set(origin, this.#deps.clock.monotonic())
    if (isNew) this.#watchers.notify()
    this.#compare(signal)
  }

  /**
   * Another daemon is this member too, with a copy of the file. Others hear only the one with the
   * later start, so the other one takes a new name.
   *
   * @param lead By how much its start is later than ours. Of one start nobody speaks but us.
   */
  #onTwin(lead: number): void {
    // Unlike an answer, a question is not left out because others have said the same.
    if (lead < 0) this.#plan('ask')
    if (lead <= 0) return
    this.#warn(TWIN)
    this.#deps.membership.rename()
    this.#save()
    this.#publish('ask')
  }

  #refuse(): void {
    this.#refused += 1
    if (this.#refused > 1) return
    this.#deps.logger.warn('A signal on the bus was refused: it was not sealed with our group key')
    this.#watchers.notify()
  }

  /** Brings the one who is behind to the later item: us, or them. */
  #compare({ kind, origin, item, url }: Signal): void {
    const isAhead = item !== undefined && !this.#deps.circleTime.believes(item.stamp.at)
    this.#noteAhead(origin, isAhead)
    // An answer would be answered in turn by a member that believes the stamp, for ever.
    if (isAhead) return kind === 'ask' ? this.#plan('answer') : undefined
    const order = comparePlaces(item, this.#place)
    if (order < 0 || kind === 'ask') this.#plan('answer')
    else this.#cancel('answer')
    if (order < 0) return
    if (order === 0) this.#isSaidByOthers = true
    else if (item !== undefined) this.#puller.offer(item, url)
  }

  #noteAhead(origin: string, isAhead: boolean): void {
    if (isAhead ? this.#ahead !== undefined : this.#ahead !== origin) return
    this.#ahead = isAhead ? origin : undefined
    if (isAhead) this.#warn(AHEAD)
    this.#watchers.notify()
  }

  #onPullError(reason: string | undefined): void {
    if (reason !== undefined) this.#warn('Cannot get an item of the group', reason)
    this.#watchers.notify()
  }

  /** Asks again: a member that answers has the item, or a later one. */
  #askLater(failures: number): void {
    this.#after('ask', Math.max(PAUSE_MS, backOff(failures, { random: this.#random })))
  }

  /** Soon, once, and not too often. */
  #plan(task: 'answer' | 'ask'): void {
    if (this.#planned.has(task)) return
    const { clock } = this.#deps
    const pause = Math.max(0, this.#saidAt + PAUSE_MS - clock.monotonic())
    this.#after(task, pause + this.#random() * ANSWER_SPREAD_MS)
  }

  #planBeacon(): void {
    this.#after('beacon', BEACON_MS + this.#random() * BEACON_SPREAD_MS)
  }

  /** Plans a task, in place of what was planned under this name. */
  #after(task: Task, delayMs: number): void {
    this.#cancel(task)
    const run = (): void => {
      this.#planned.delete(task)
      this.#do(task)
    }
    this.#planned.set(task, this.#deps.clock.after(delayMs, run))
  }

  #cancel(task: Task): void {
    this.#planned.get(task)?.()
    this.#planned.delete(task)
  }

  #do(task: Task): void {
    if (task === 'save') return this.#save()
    if (task !== 'beacon') return this.#publish(task === 'ask' ? 'ask' : 'have')
    this.#planBeacon()
    this.#silence += 1
    const isNeedless = this.#isSaidByOthers && this.#silence <= MAX_SILENCE
    this.#isSaidByOthers = false
    if (!isNeedless) this.#publish('have')
  }

  #save(): void {
    const save = (): Promise<void> => this.#deps.membership.save(this.#guard.epochs)
    this.#saving = this.#saving.then(save).catch((error: unknown) => {
      this.#warn('Cannot remember the members of the group', messageOf(error))
      if (!this.#isClosed) this.#after('save', SAVE_AGAIN_MS)
    })
  }

  #warn(message: string, reason?: string): void {
    this.#told.warn(message, { reason }, message)
  }
}
