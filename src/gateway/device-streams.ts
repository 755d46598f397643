/**
 * How devices hear at once that something changed: on an event stream, `GET /api/sse/clipboard`,
 * which never says what, or on a connection to the message hub, which does.
 *
 * All streams of a kind get one encoded frame. While nobody listens, there is neither a frame nor a
 * timer.
 * @module
 */

import {
  HEARTBEAT_MS,
  MAX_HUB_CONNECTIONS_PER_DEVICE,
  MAX_STREAMS_PER_DEVICE,
} from '../core/limits.ts'
import type { Handler } from '../http/call.ts'
import {
  encodeEvent,
  EVENT_STREAM_HEADERS,
  EventStream,
  type LiveStream,
  LiveStreamList,
} from '../http/live-streams.ts'
import type { Wire } from '../http/reply.ts'
import { encodePieces, encodeText } from '../http/websocket.ts'
import type { Clock } from '../lib/clock.ts'
import { Seldom } from '../lib/seldom.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { encodeWithText } from '../lib/long-text.ts'
import type { Change, ChangeFeed } from '../ports/change-feed.ts'
import type { DeviceRegistry, Principal } from '../ports/device-registry.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { Dialects } from './dialect.ts'
import type { Computer } from './gateway-ports.ts'
import { HubAllowance } from './hub-allowance.ts'
import { HubStream } from './hub-stream.ts'
import { encodeHubChange } from './wire/hub-records.ts'

/** A connection to the hub may not be silent for more than 15 s, and an event stream may. */
const HUB_BEATS_PER_HEARTBEAT = 2

const CROWDED = 'Too many programs use one device at once: the oldest was disconnected; pair each'

/** A client that came again at once would put the next one out, for ever. */
const REPLACED: Uint8Array = Buffer.from(': replaced\n\n')

const FLOODED = 'A program that floods the hub was disconnected'

/** The ports that the streams of the devices need. */
export interface DeviceStreamsDeps {
  readonly changes: ChangeFeed
  readonly latest: Pick<LatestItem, 'current'>
  readonly devices: Pick<DeviceRegistry, 'isValid' | 'onCredentialGone'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  readonly computer?: Pick<Computer, 'isPaused' | 'onChange'> | undefined
  /** Pause between two pings of an event stream, in milliseconds. */
  readonly heartbeatMs?: number | undefined
  /** Event streams of one device; one more ends the oldest. */
  readonly maxPerDevice?: number | undefined
}

/** Opens the event stream of a device. */
export function getEvents(
  streams: Pick<DeviceStreams, 'open'>,
  dialects: Pick<Dialects, 'noteReads'>,
): Handler<Principal> {
  return (call) => {
    dialects.noteReads(call, 'sync')
    return {
      status: 200,
      headers: EVENT_STREAM_HEADERS,
      body: { attach: (wire) => streams.open(call.principal, wire) },
    }
  }
}

/** The open streams of all devices: who hears what, how many there are, when they end. */
export class DeviceStreams {
  readonly #deps: DeviceStreamsDeps
  readonly #events: LiveStreamList<EventStream>
  readonly #hubs: LiveStreamList<HubStream>
  /** The event streams of members. */
  readonly #ofMembers = new WeakSet<EventStream>()
  /** Programs that put each other out come again in seconds, those that flood the hub at once. */
  readonly #told: Seldom
  /** By device; they outlive the connections, else a new one would begin with all of it. */
  readonly #allowances = new Map<string, HubAllowance>()
  readonly #unsubscribe: (() => void)[]
  readonly #watchers = new Subscribers()

  constructor(deps: DeviceStreamsDeps) {
    const { changes, devices, clock, heartbeatMs = HEARTBEAT_MS } = deps
    const { maxPerDevice = MAX_STREAMS_PER_DEVICE } = deps
    this.#deps = deps
    this.#told = new Seldom(deps)
    const onCount = (): void => this.#watchers.notify()
    this.#events = new LiveStreamList({
      clock,
      beatMs: heartbeatMs,
      maxPerOwner: maxPerDevice,
      onCount,
      onCrowded: (_, oldest) => oldest.send(REPLACED),
    })
    this.#hubs = new LiveStreamList({
      clock,
      beatMs: heartbeatMs / HUB_BEATS_PER_HEARTBEAT,
      maxPerOwner: MAX_HUB_CONNECTIONS_PER_DEVICE,
      onCount,
      onCrowded: (device) => {
        const limit = MAX_HUB_CONNECTIONS_PER_DEVICE
        this.#told.warn(CROWDED, { device, limit }, CROWDED + device)
      },
    })
    this.#unsubscribe = [
      changes.subscribe(
        (change) => this.#tell(change),
        // To others nothing has changed.
        () => this.#callToLook((stream) => this.#ofMembers.has(stream)),
      ),
      devices.onCredentialGone((deviceId) => {
        this.#events.end(deviceId)
        this.#hubs.end(deviceId)
        for (const message of [CROWDED, FLOODED]) this.#told.forget(message + deviceId)
        this.#allowances.delete(deviceId)
      }),
    ]
    if (deps.computer !== undefined) this.#unsubscribe.push(this.#tellPausesOf(deps.computer))
  }

  /** Open streams of a device, of both kinds. */
  count(deviceId: string): number {
    return this.#events.of(deviceId).length + this.#hubs.of(deviceId).length
  }

  /** Whether a device has a connection to the hub that has this token. */
  hasHub(deviceId: string, token: string): boolean {
    return this.#hubs.of(deviceId).some((stream) => stream.token === token)
  }

  /** Calls `listener` when streams were opened or have ended. @returns Ends the subscription. */
  onCount(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /**
   * Opens an event stream, and says hello on it. It hears of all that happens from now on.
   *
   * @param principal As it was when it logged in.
   */
  open(principal: Principal, wire: Wire): void {
    const stream = this.#add(
      this.#events,
      principal,
      wire,
      (wire, onGone) => new EventStream(wire, () => this.#encodeNow('resync'), onGone),
    )
    if (stream === undefined) return
    if (principal.kind === 'peer') this.#ofMembers.add(stream)
    stream.send(this.#encodeNow('hello'))
  }

  /**
   * Opens a connection to the hub, which hears of all that happens once its client has said what it
   * speaks.
   *
   * @param principal As it was when it logged in.
   * @param token Names the connection, if its client asked for a name.
   */
  openHub(principal: Principal, wire: Wire, token: string | undefined): void {
    const { clock } = this.#deps
    const { id } = principal
    const onFlood = (): void => this.#told.warn(FLOODED, { device: id }, FLOODED + id)
    this.#add(this.#hubs, principal, wire, (wire, onGone) => {
      const allowance = this.#allowances.get(id) ?? new HubAllowance(clock)
      this.#allowances.set(id, allowance)
      return new HubStream(wire, { clock, allowance, token, onGone, onFlood })
    })
  }

  /** Ends all streams, and from now on each new one at once. */
  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#events.close()
    this.#hubs.close()
  }

  #add<Stream extends LiveStream>(
    streams: LiveStreamList<Stream>,
    { id: deviceId, passwordHash }: Principal,
    wire: Wire,
    make: (wire: Wire, onGone: () => void) => Stream,
  ): Stream | undefined {
    // Revoked between its login and now: nobody would ever end the stream.
    if (this.#deps.devices.isValid({ deviceId, passwordHash })) {
      return streams.open(deviceId, wire, make)
    }
    wire.end()
    return undefined
  }

  #tell({ contentId, activatedAt }: Change): void {
    if (!this.#events.isEmpty) {
      const update = encodeEvent('update', { content_id: contentId, server_time_ms: activatedAt })
      this.#events.each((stream) => stream.send(update))
    }
    const item = this.#deps.latest.current?.item
    if (this.#hubs.isEmpty || item === undefined) return
    const message = encodeWithText(item, encodeHubChange)
    const frame = typeof message === 'string' ? encodeText(message) : encodePieces(message)
    this.#hubs.each((stream) => stream.tell(frame))
  }

  /** Has those that are meant look at what is current. */
  #callToLook(isMeant: (stream: EventStream) => boolean): void {
    if (this.#events.isEmpty) return
    const look = this.#encodeNow('resync')
    this.#events.each((stream) => {
      if (isMeant(stream)) stream.send(look)
    })
  }

  #tellPausesOf(computer: NonNullable<DeviceStreamsDeps['computer']>): () => void {
    let wasPaused = computer.isPaused()
    return computer.onChange(() => {
      if (computer.isPaused() === wasPaused) return
      wasPaused = !wasPaused
      this.#callToLook(() => true)
    })
  }

  #encodeNow(name: 'hello' | 'resync'): Uint8Array {
    return encodeEvent(name, { server_time_ms: this.#deps.clock.now() })
  }
}
