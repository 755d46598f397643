/**
 * `GET /api/sse/clipboard`: tells a device at once that something changed, and never what.
 *
 * All streams get one encoded frame; there is neither frame nor timer while nobody listens.
 * @module
 */

import { HEARTBEAT_MS, MAX_STREAMS_PER_DEVICE } from '../core/limits.ts'
import type { Handler } from '../http/call.ts'
import { encodeEvent, EVENT_STREAM_HEADERS, EventStreamList } from '../http/event-stream.ts'
import type { Wire } from '../http/reply.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Device } from '../ports/device-registry.ts'
import type { GatewayPorts } from './gateway-ports.ts'

/** Opens the event stream of a device. */
export function getEvents(streams: Pick<EventStreams, 'open'>): Handler<Device> {
  return ({ principal }) => ({
    status: 200,
    headers: EVENT_STREAM_HEADERS,
    body: { attach: (wire) => streams.open(principal, wire) },
  })
}

/** The open event streams of all devices: who hears what, how many there are, when they end. */
export class EventStreams {
  readonly #devices: GatewayPorts['devices']
  readonly #clock: GatewayPorts['clock']
  readonly #streams: EventStreamList
  readonly #unsubscribe: readonly (() => void)[]
  readonly #watchers = new Subscribers()

  constructor({ changes, devices, clock }: GatewayPorts, heartbeatMs: number = HEARTBEAT_MS) {
    this.#devices = devices
    this.#clock = clock
    this.#streams = new EventStreamList({
      clock,
      heartbeatMs,
      maxPerOwner: MAX_STREAMS_PER_DEVICE,
      resync: () => this.#encodeNow('resync'),
      onCount: () => this.#watchers.notify(),
    })
    this.#unsubscribe = [
      changes.subscribe(({ contentId, activatedAt }) => {
        if (this.#streams.isEmpty) return
        const update = { content_id: contentId, server_time_ms: activatedAt }
        this.#streams.send(encodeEvent('update', update))
      }),
      devices.onCredentialGone((deviceId) => this.#streams.end(deviceId)),
    ]
  }

  /** Open streams of a device. */
  count(deviceId: string): number {
    return this.#streams.count(deviceId)
  }

  /** Calls `listener` when streams were opened or have ended. @returns Ends the subscription. */
  onCount(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /**
   * Opens a stream, and says hello on it. The stream hears of all that happens from now on.
   *
   * @param device As it was when it logged in.
   */
  open({ id: deviceId, passwordHash }: Device, wire: Wire): void {
    // Revoked between its login and now: nobody would ever end the stream.
    if (this.#devices.find(deviceId)?.passwordHash !== passwordHash) wire.end()
    else this.#streams.open(deviceId, wire)?.send(this.#encodeNow('hello'))
  }

  /** Ends all streams, and from now on each new one at once. */
  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#streams.close()
  }

  #encodeNow(name: 'hello' | 'resync'): Uint8Array {
    return encodeEvent(name, { server_time_ms: this.#clock.now() })
  }
}
