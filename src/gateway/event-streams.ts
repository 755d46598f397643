/**
 * The open event streams of all devices: who hears what, how many there are, and when they end.
 *
 * One encoded frame and one timer for all of them; neither while nobody listens.
 *
 * @module
 */

import { HEARTBEAT_MS, MAX_STREAMS_PER_DEVICE } from '../core/limits.ts'
import { encodeEvent, EventStream } from '../http/event-stream.ts'
import type { Wire } from '../http/reply.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { Clock } from '../lib/clock.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'

export interface EventStreamsDeps {
  readonly changes: ChangeFeed
  readonly devices: Pick<DeviceRegistry, 'find' | 'onCredentialGone'>
  readonly clock: Clock
  readonly heartbeatMs?: number | undefined
}

export class EventStreams {
  readonly #devices: EventStreamsDeps['devices']
  readonly #clock: Clock
  readonly #heartbeatMs: number
  readonly #unsubscribe: readonly (() => void)[]
  /** Oldest first. No entry is empty. */
  readonly #byDevice = new Map<string, readonly EventStream[]>()
  #cancelBeat: (() => void) | undefined = undefined
  #isClosed = false
  readonly #watchers = new Subscribers()
  readonly #resync = (): Uint8Array => this.#encodeNow('resync')

  constructor({ changes, devices, clock, heartbeatMs = HEARTBEAT_MS }: EventStreamsDeps) {
    this.#devices = devices
    this.#clock = clock
    this.#heartbeatMs = heartbeatMs
    this.#unsubscribe = [
      changes.subscribe(({ contentId, activatedAt }) => {
        const update = { content_id: contentId, server_time_ms: activatedAt }
        this.#broadcast(encodeEvent('update', update))
      }),
      devices.onCredentialGone((deviceId) => this.#endAllOf(deviceId)),
    ]
  }

  /** Open streams of a device. */
  count(deviceId: string): number {
    return this.#byDevice.get(deviceId)?.length ?? 0
  }

  /** Calls `listener` when streams were opened or have ended. @returns Ends the subscription. */
  onCount(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /**
   * Opens a stream, and says hello on it. It hears of all that happens from now on.
   *
   * @param device As it was when it logged in.
   */
  open({ id: deviceId, passwordHash }: Device, wire: Wire): void {
    const isGone = this.#devices.find(deviceId)?.passwordHash !== passwordHash
    // Between its login and now: nobody would ever end the stream.
    if (isGone || this.#isClosed) {
      wire.end()
      return
    }
    const stream = new EventStream(wire, {
      resync: this.#resync,
      onGone: () => this.#remove(deviceId, stream),
    })
    const streams = [...(this.#byDevice.get(deviceId) ?? []), stream]
    this.#byDevice.set(deviceId, streams.slice(-MAX_STREAMS_PER_DEVICE))
    for (const oldest of streams.slice(0, -MAX_STREAMS_PER_DEVICE)) oldest.end()
    stream.send(this.#encodeNow('hello'))
    this.#cancelBeat ??= this.#scheduleBeat()
    this.#watchers.notify()
  }

  /** Ends all streams, and from now on each new one at once. */
  close(): void {
    this.#isClosed = true
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const deviceId of [...this.#byDevice.keys()]) this.#endAllOf(deviceId)
  }

  #broadcast(frame: Uint8Array): void {
    for (const streams of this.#byDevice.values()) {
      for (const stream of streams) stream.send(frame)
    }
  }

  #endAllOf(deviceId: string): void {
    const streams = this.#byDevice.get(deviceId) ?? []
    this.#byDevice.delete(deviceId)
    for (const stream of streams) stream.end()
    this.#restWhenAlone()
  }

  #remove(deviceId: string, stream: EventStream): void {
    const left = (this.#byDevice.get(deviceId) ?? []).filter((other) => other !== stream)
    if (left.length > 0) this.#byDevice.set(deviceId, left)
    else this.#byDevice.delete(deviceId)
    this.#restWhenAlone()
  }

  #restWhenAlone(): void {
    this.#watchers.notify()
    if (this.#byDevice.size > 0) return
    this.#cancelBeat?.()
    this.#cancelBeat = undefined
  }

  #scheduleBeat(): () => void {
    return this.#clock.after(this.#heartbeatMs, () => {
      for (const streams of this.#byDevice.values()) {
        for (const stream of streams) stream.ping()
      }
      this.#cancelBeat = this.#scheduleBeat()
    })
  }

  #encodeNow(name: 'hello' | 'resync'): Uint8Array {
    return encodeEvent(name, { server_time_ms: this.#clock.now() })
  }
}
