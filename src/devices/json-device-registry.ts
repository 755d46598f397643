/**
 * The paired devices in one JSON file.
 *
 * A new password is durable first, and then becomes valid in memory in one tick, together with its
 * `revision` and its `onCredentialGone`: whoever was shown a password has one that survives a
 * crash. A password that is to end does not wait for the disk: it ends in memory, and when that
 * cannot be saved, it is saved later; see docs/decisions/030-revocation-without-a-disk.md.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { tell } from '../core/happening.ts'
import { OWNER_ID } from '../core/owner.ts'
import { networkOf } from '../lib/network-of.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Clock } from '../lib/clock.ts'
import type {
  Device,
  DeviceRegistry,
  Dialect,
  Login,
  MintedDevice,
  NewDevice,
  Revocation,
  Sighting,
} from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import { readDeviceFile } from './device-file.ts'
import { DeviceSaver } from './device-saver.ts'
import { chooseNames, choosePassword, mintDeviceId } from './credential-rules.ts'
import type { PasswordHasher } from './password-hasher.ts'

/** Options of {@link JsonDeviceRegistry}. */
export interface JsonDeviceRegistryOptions {
  /** The file, in a folder that exists and that is ours alone. */
  readonly path: string
  readonly hasher: Pick<PasswordHasher, 'hashPassword'>
  readonly clock: Clock
  readonly logger: Logger
  /** Called when a device is seen that never was before. Does not throw. */
  readonly onFirstSighting?: ((device: Device) => void) | undefined
  /**
   * This program ends right after its change: one that cannot be saved would count nowhere, and is
   * refused.
   */
  readonly isBrief?: boolean | undefined
}

/** The registry of the devices in one file. */
export class JsonDeviceRegistry implements DeviceRegistry {
  readonly #options: JsonDeviceRegistryOptions
  readonly #changes = new Semaphore(1)
  readonly #listeners = new Set<(deviceId: string) => unknown>()
  readonly #watchers = new Subscribers()
  readonly #sightings = new Sightings()
  readonly #saver: DeviceSaver
  #devices: PairedDevices
  #revision = 0
  /** Settles when all listeners have done with the credentials that are gone. */
  #told: Promise<unknown> = Promise.resolve()
  #isClosed = false

  private constructor(options: JsonDeviceRegistryOptions, devices: readonly Device[]) {
    this.#options = options
    this.#devices = new PairedDevices(devices)
    this.#saver = new DeviceSaver({
      ...options,
      merge: (device) => this.#sightings.merge(device),
      onDue: () => this.#changes.run(() => this.#saver.saveDue(this.#devices.list)),
      onUnsaved: () => this.#watchers.notify(),
    })
  }

  /**
   * Reads the file. A missing one is an empty registry.
   *
   * @throws {DomainError} `DATA_CORRUPT`, `DATA_DIRECTORY_UNUSABLE`, naming file and remedy.
   */
  static async open(options: JsonDeviceRegistryOptions): Promise<JsonDeviceRegistry> {
    const { path, logger } = options
    return new JsonDeviceRegistry(options, await readDeviceFile(path, logger))
  }

  get revision(): number {
    return this.#revision
  }

  get unsaved(): string | undefined {
    return this.#saver.unsaved
  }

  list(): readonly Device[] {
    return this.#devices.list.map((device) => this.#sightings.merge(device))
  }

  find(idOrUsername: string): Device | undefined {
    const device = this.#devices.find(idOrUsername)
    return device === undefined ? undefined : this.#sightings.merge(device)
  }

  isValid({ deviceId, passwordHash }: Login): boolean {
    if (deviceId === OWNER_ID) return true
    const device = this.#devices.find(deviceId)
    return device?.passwordHash !== undefined && device.passwordHash === passwordHash
  }

  async add(wanted: NewDevice, signal?: AbortSignal): Promise<MintedDevice> {
    // Refuses before it pays for a hash; what holds is decided when its turn has come.
    chooseNames(wanted, this.#devices.list)
    const password = choosePassword(wanted.password)
    const passwordHash = await this.#options.hasher.hashPassword(password)
    return this.#change(async () => {
      // Nobody would be shown the password.
      signal?.throwIfAborted()
      const device: Device = {
        id: mintDeviceId(),
        kind: wanted.kind,
        ...chooseNames(wanted, this.#devices.list),
        passwordHash,
        createdAt: this.#options.clock.now(),
        lastSeenAt: undefined,
        lastSeenAddress: undefined,
        lastClient: undefined,
        dialect: undefined,
        reads: undefined,
        usesOldKeys: undefined,
        isExact: undefined,
        linkUrl: wanted.linkUrl,
      }
      const next = [...this.#devices.list, device]
      await this.#saver.save(next)
      this.#commit(next)
      return { device, password }
    })
  }

  async rotate(
    idOrUsername: string,
    wanted?: string,
    linkUrl?: string,
    signal?: AbortSignal,
  ): Promise<MintedDevice> {
    const { id } = this.#get(idOrUsername)
    const password = choosePassword(wanted)
    const passwordHash = await this.#options.hasher.hashPassword(password)
    return this.#end(async () => {
      signal?.throwIfAborted()
      const next = this.#withHash(id, passwordHash, linkUrl)
      try {
        await this.#saver.save(next)
      } catch (error) {
        if (this.#options.isBrief === true) throw error
        throw this.#endWithoutPassword(id, error)
      }
      this.#commit(next, id)
      return { device: this.#get(id), password }
    })
  }

  revoke(idOrUsername: string): Promise<Revocation> {
    return this.#end(async () => {
      const { id, lastSeenAt } = this.#get(idOrUsername)
      const next = this.#devices.list.filter((other) => other.id !== id)
      if (this.#options.isBrief === true) await this.#saver.save(next)
      this.#commit(next, id)
      this.#sightings.forget(id)
      if (this.#options.isBrief !== true) await this.#saver.saveOrOwe(next)
      if (lastSeenAt !== undefined) this.#saver.saveSightingsLater()
      return { id, unsaved: this.unsaved }
    })
  }

  noteSighting(id: string, sighting: Sighting): void {
    const device = this.#devices.find(id)
    if (device === undefined) return
    const { isFirst, isNewAddress, isLearnt } = this.#sightings.note(device, sighting)
    if (isFirst) this.#options.onFirstSighting?.(device)
    if (isNewAddress) {
      const { address } = sighting
      const fields = { device: id, label: device.label, address }
      tell(this.#options.logger, { kind: 'connected', ...fields })
    }
    this.#watchers.notify()
    this.#saver.saveSightingsLater(isLearnt)
  }

  onCredentialGone(listener: (deviceId: string) => unknown): () => void {
    const own = (deviceId: string): unknown => listener(deviceId)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** Saves what was only noted, and what could not be saved. Changes fail from now on. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#saver.close()
    await this.#changes.idle()
  }

  #get(idOrUsername: string): Device {
    const device = this.find(idOrUsername)
    if (device !== undefined) return device
    throw new DomainError('NO_SUCH_DEVICE', `Cannot find a device "${idOrUsername}"`)
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(() => {
      if (this.#isClosed) {
        throw new DomainError('STATION_CLOSED', 'Cannot change devices: the registry is closed')
      }
      return change()
    })
  }

  /** A change that ends a credential: settles when nothing is done for that any more. */
  async #end<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await this.#change(change)
    } finally {
      await this.#told
    }
  }

  #withHash(id: string, passwordHash: string | undefined, linkUrl?: string): readonly Device[] {
    const old = this.#get(id)
    const device = { ...old, passwordHash, linkUrl: linkUrl ?? old.linkUrl }
    return this.#devices.list.map((other) => (other.id === id ? device : other))
  }

  /** The old password is to end, and nobody may be shown a new one that a restart would undo. */
  #endWithoutPassword(id: string, cause: unknown): unknown {
    if (!(cause instanceof DomainError)) return cause
    this.#commit(this.#withHash(id, undefined), id)
    this.#saver.owe(cause.message)
    const message =
      `${cause.message}. There is no new password, and the old one does not work any more, ` +
      'unless the daemon is restarted before this is mended: mend it, and rotate again'
    return new DomainError(cause.code, message, { cause })
  }

  /** From here on, and in one tick, the new state is the one that counts. */
  #commit(next: readonly Device[], withoutCredential?: string): void {
    this.#devices = new PairedDevices(next)
    this.#revision++
    this.#watchers.notify()
    if (withoutCredential === undefined) return
    const told = [...this.#listeners].map((listener) => this.#tell(listener, withoutCredential))
    this.#told = Promise.all([this.#told, ...told])
  }

  async #tell(listener: (deviceId: string) => unknown, id: string): Promise<void> {
    try {
      await listener(id)
    } catch (error) {
      // The credential is gone, whatever a listener makes of it; the others must hear too.
      this.#options.logger.error('Cannot tell that a credential is gone', { reason: String(error) })
    }
  }
}

/** The paired devices at one moment, in the order of pairing. */
class PairedDevices {
  readonly list: readonly Device[]
  readonly #byName: ReadonlyMap<string, Device>

  constructor(list: readonly Device[]) {
    this.list = list
    // No user name is as long as an id.
    this.#byName = new Map(
      list.flatMap((device) => [
        [device.id, device],
        [device.username, device],
      ]),
    )
  }

  find(idOrUsername: string): Device | undefined {
    return this.#byName.get(idOrUsername)
  }
}

/** Longer names of clients tell nothing more. */
const MAX_CLIENT_LENGTH = 200

/** A device is at home, at work and on the way; of one that is everywhere, the latest are kept. */
const MAX_NETWORKS = 16

/** How the client of a device is answered: each stays until a request says something else. */
interface Learnt {
  dialect?: Dialect | undefined
  reads?: Dialect | undefined
  usesOldKeys?: boolean | undefined
  isExact?: boolean | undefined
}

const LEARNT = ['dialect', 'reads', 'usesOldKeys', 'isExact'] as const

interface LastSighting {
  at: number
  address: string | undefined
  /** Where it was, the latest last. */
  readonly networks: Set<string>
  client: string | undefined
  readonly learnt: Learnt
}

/** In what a sighting differs from all before it. */
interface Novelty {
  /** The device was never seen before. */
  readonly isFirst: boolean
  /** It was not seen at this address, or in its IPv6 network, as far as that is remembered. */
  readonly isNewAddress: boolean
  /** Something was learnt of how its client is answered. */
  readonly isLearnt: boolean
}

const NOTHING_NEW: Novelty = { isFirst: false, isNewAddress: false, isLearnt: false }

/**
 * The last sighting of each device. Beside the devices, because it changes with every request:
 * noting one allocates nothing.
 */
class Sightings {
  readonly #byId = new Map<string, LastSighting>()

  /** Notes a sighting of a device that exists. @returns What is new about it. */
  note(device: Device, sighting: Sighting): Novelty {
    const { at, address, client } = sighting
    let last = this.#byId.get(device.id)
    const isFirst = last === undefined && device.lastSeenAt === undefined
    if (last === undefined) {
      last = { at, address: undefined, client: undefined, networks: new Set(), learnt: {} }
      learn(last.learnt, device)
      this.#byId.set(device.id, last)
      if (device.lastSeenAddress !== undefined) noteNetwork(last, device.lastSeenAddress)
    }
    last.at = at
    const isNewAddress = noteNetwork(last, address)
    last.address = address
    last.client = client === undefined ? undefined : shorten(client)
    const isLearnt = learn(last.learnt, sighting)
    if (!isFirst && !isNewAddress && !isLearnt) return NOTHING_NEW
    return { isFirst, isNewAddress, isLearnt }
  }

  merge(device: Device): Device {
    const last = this.#byId.get(device.id)
    if (last === undefined) return device
    return {
      ...device,
      ...last.learnt,
      lastSeenAt: last.at,
      lastSeenAddress: last.address,
      lastClient: last.client,
    }
  }

  forget(deviceId: string): void {
    this.#byId.delete(deviceId)
  }
}

/** @returns Whether something of it is new. */
function learn(known: Learnt, told: Readonly<Learnt>): boolean {
  let isNew = false
  for (const key of LEARNT) if (learnOne(known, told, key)) isNew = true
  return isNew
}

function learnOne<Key extends keyof Learnt>(known: Learnt, told: Learnt, key: Key): boolean {
  const value = told[key]
  // Nothing is learnt from what everybody does.
  if (value === undefined || value === (known[key] ?? false)) return false
  known[key] = value
  return true
}

/** @returns Whether the network of the address is not among those that are remembered. */
function noteNetwork({ address: before, networks }: LastSighting, address?: string): boolean {
  if (address === undefined || address === before) return false
  const network = networkOf(address)
  const isNew = !networks.delete(network)
  networks.add(network)
  const [oldest] = networks
  if (networks.size > MAX_NETWORKS && oldest !== undefined) networks.delete(oldest)
  return isNew
}

function shorten(client: string): string {
  if (client.length <= MAX_CLIENT_LENGTH) return client
  return client.slice(0, MAX_CLIENT_LENGTH).toWellFormed()
}
