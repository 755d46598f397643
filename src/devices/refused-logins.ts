/**
 * Remembers that logins with the user name of a device were refused, so that its owner can see why
 * a phone does not get in. Nothing is kept of other names, and nothing of any password.
 *
 * A client must not learn from the time that an answer takes whether a name exists: noting a
 * refusal costs less than looking for the device does, and what follows of it happens later.
 * @module
 */

import { tell } from '../core/happening.ts'
import type { Clock } from '../lib/clock.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Device, DeviceRegistry, LoginRefusals } from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'

/** A person who pairs a phone looks at the panel meanwhile. */
const NOTIFY_MS = 250

/** Guesses must not fill the log. */
const LOG_PAUSE_MS = 60_000

interface RefusedLoginsDeps {
  readonly devices: Pick<DeviceRegistry, 'find' | 'onCredentialGone'>
  readonly clock: Clock
  readonly logger: Logger
}

interface Entry {
  count: number
  lastAt: number
  lastAddress: string | undefined
  /** Those that the log does not tell of yet. */
  untold: number
}

/** The refused logins of each device since its password was made, at most since the start. */
export class RefusedLogins {
  readonly #deps: RefusedLoginsDeps
  /** By device id. */
  readonly #entries = new Map<string, Entry>()
  readonly #watchers = new Subscribers()
  #cancelNotify: (() => void) | undefined
  #cancelLog: (() => void) | undefined
  /** Monotonic. */
  #quietUntil = Number.NEGATIVE_INFINITY

  constructor(deps: RefusedLoginsDeps) {
    this.#deps = deps
    deps.devices.onCredentialGone((deviceId) => this.#entries.delete(deviceId))
  }

  /** Notes a wrong password, if there is a device of that name. @returns Its id. */
  note(username: string, address: string | undefined): string | undefined {
    const { clock } = this.#deps
    const device = this.#find(username)
    if (device === undefined) return undefined
    const entry = this.#entries.get(device.id) ?? { count: 0, untold: 0, ...NEVER }
    this.#entries.set(device.id, entry)
    entry.count += 1
    entry.untold += 1
    entry.lastAt = clock.now()
    entry.lastAddress = address
    this.#cancelNotify ??= clock.after(NOTIFY_MS, () => this.#notify())
    const pause = Math.max(NOTIFY_MS, this.#quietUntil - clock.monotonic())
    this.#cancelLog ??= clock.after(pause, () => this.#log())
    return device.id
  }

  /** The refused logins of a device; `undefined` when there were none. */
  of(deviceId: string): LoginRefusals | undefined {
    return this.#entries.get(deviceId)
  }

  /** Calls `listener` when there were more of them. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** Ends the timers, and tells the log what it does not know yet. */
  close(): void {
    this.#cancelNotify?.()
    this.#cancelLog?.()
    if (this.#cancelLog !== undefined) this.#log()
  }

  /** The registry also finds ids, which are no credentials. */
  #find(username: string): Device | undefined {
    const device = this.#deps.devices.find(username)
    return device?.username === username ? device : undefined
  }

  #notify(): void {
    this.#cancelNotify = undefined
    this.#watchers.notify()
  }

  #log(): void {
    const { clock, logger } = this.#deps
    this.#cancelLog = undefined
    this.#quietUntil = clock.monotonic() + LOG_PAUSE_MS
    for (const [device, entry] of this.#entries) {
      const { untold: times, lastAddress: address } = entry
      entry.untold = 0
      if (times > 0) tell(logger, { kind: 'refused', device, times, address })
    }
  }
}

const NEVER = { lastAt: 0, lastAddress: undefined }
