/**
 * A registry that keeps nothing, and hashes so cheaply that tests can pair devices by the dozen.
 * @module
 */

import { DomainError } from '../../src/core/domain-error.ts'
import { OWNER_ID } from '../../src/core/owner.ts'
import { chooseNames, choosePassword, mintDeviceId } from '../../src/devices/credential-rules.ts'
import { Sightings } from '../../src/devices/sightings.ts'
import { Subscribers } from '../../src/lib/subscribers.ts'
import type {
  Device,
  DeviceRegistry,
  Login,
  MintedDevice,
  NewDevice,
  Revocation,
  Sighting,
} from '../../src/ports/device-registry.ts'
import { sha256 } from './hashes.ts'

/** No PHC string: the real verifier cannot take it, {@link FakeVerifier} can. */
export function fakeHashOf(username: string, password: string): string {
  return sha256(`${username}:${password}`)
}

export class MemoryDeviceRegistry implements DeviceRegistry {
  #devices: readonly Device[] = []
  #revision = 0
  readonly #sightings = new Sightings()
  readonly #listeners = new Set<(deviceId: string) => unknown>()
  readonly #watchers = new Subscribers()
  readonly #now: () => number
  readonly unsaved = undefined

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  get revision(): number {
    return this.#revision
  }

  list(): readonly Device[] {
    return this.#devices.map((device) => this.#sightings.merge(device))
  }

  find(idOrUsername: string): Device | undefined {
    return this.list().find(({ id, username }) => id === idOrUsername || username === idOrUsername)
  }

  isValid({ deviceId, passwordHash }: Login): boolean {
    if (deviceId === OWNER_ID) return true
    return passwordHash !== undefined && this.find(deviceId)?.passwordHash === passwordHash
  }

  async add(wanted: NewDevice, signal?: AbortSignal): Promise<MintedDevice> {
    const names = chooseNames(wanted, this.#devices)
    const password = choosePassword(wanted.password)
    const device: Device = {
      id: mintDeviceId(),
      kind: wanted.kind,
      ...names,
      passwordHash: fakeHashOf(names.username, password),
      createdAt: this.#now(),
      lastSeenAt: undefined,
      lastSeenAddress: undefined,
      lastClient: undefined,
      dialect: undefined,
      reads: undefined,
      usesOldKeys: undefined,
      linkUrl: wanted.linkUrl,
    }
    signal?.throwIfAborted()
    await this.#replace([...this.#devices, device])
    return { device, password }
  }

  async rotate(
    idOrUsername: string,
    wanted?: string,
    linkUrl?: string,
    signal?: AbortSignal,
  ): Promise<MintedDevice> {
    const old = this.#get(idOrUsername)
    const password = choosePassword(wanted)
    const passwordHash = fakeHashOf(old.username, password)
    const device = { ...old, passwordHash, linkUrl: linkUrl ?? old.linkUrl }
    signal?.throwIfAborted()
    await this.#replace(
      this.#devices.map((other) => (other.id === old.id ? device : other)),
      old.id,
    )
    return { device, password }
  }

  async revoke(idOrUsername: string): Promise<Revocation> {
    const { id } = this.#get(idOrUsername)
    await this.#replace(
      this.#devices.filter((device) => device.id !== id),
      id,
    )
    return { id, unsaved: undefined }
  }

  noteSighting(id: string, sighting: Sighting): void {
    const device = this.#devices.find((other) => other.id === id)
    if (device === undefined) return
    this.#sightings.note(device, sighting)
    this.#watchers.notify()
  }

  onCredentialGone(listener: (deviceId: string) => unknown): () => void {
    const own = (deviceId: string): unknown => listener(deviceId)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  #get(idOrUsername: string): Device {
    const device = this.find(idOrUsername)
    if (device !== undefined) return device
    throw new DomainError('NO_SUCH_DEVICE', `Cannot find a device "${idOrUsername}"`)
  }

  async #replace(devices: readonly Device[], withoutCredential?: string): Promise<void> {
    this.#devices = devices
    this.#revision++
    this.#watchers.notify()
    if (withoutCredential === undefined) return
    await Promise.all([...this.#listeners].map((listener) => listener(withoutCredential)))
  }
}
