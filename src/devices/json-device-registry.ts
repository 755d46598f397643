/**
 * The paired devices in one JSON file.
 *
 * A change is durable first, and then becomes valid in memory in one tick, together with its
 * `revision` and its `onCredentialGone`: whoever was shown a password has one that survives a
 * crash. A change that cannot be saved did not happen.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { codeOf, isShortage } from '../lib/system-error.ts'
import type { Clock } from '../ports/clock.ts'
import type {
  Device,
  DeviceRegistry,
  MintedDevice,
  NewDevice,
  Sighting,
} from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import { formatDeviceFile } from './device-file.ts'
import { chooseNames, choosePassword, mintDeviceId } from './mint.ts'
import type { PasswordHasher } from './password-hasher.ts'
import { PairedDevices } from './paired-devices.ts'
import { readDeviceFile } from './read-device-file.ts'
import { Sightings } from './sightings.ts'

/** Sightings are worth few writes: a crash may lose this much of them. */
const SIGHTINGS_DELAY_MS = 30_000

/** The disk, the user's quota, and the size of files that the process may write. */
const NO_SPACE_CODES = ['ENOSPC', 'EDQUOT', 'EFBIG']

export interface JsonDeviceRegistryOptions {
  /** The file, in a folder that exists and that is ours alone. */
  readonly path: string
  readonly hasher: Pick<PasswordHasher, 'hashPassword'>
  readonly clock: Clock
  readonly logger: Logger
  /** Told when a device is seen that never was before. Does not throw. */
  readonly onFirstSighting?: ((device: Device) => void) | undefined
}

export class JsonDeviceRegistry implements DeviceRegistry {
  readonly #options: JsonDeviceRegistryOptions
  readonly #changes = new SerialQueue()
  readonly #listeners = new Set<(deviceId: string) => void>()
  readonly #watchers = new Subscribers()
  readonly #sightings = new Sightings()
  #devices: PairedDevices
  #revision = 0
  #cancelSave: (() => void) | undefined
  #isClosed = false

  private constructor(options: JsonDeviceRegistryOptions, devices: readonly Device[]) {
    this.#options = options
    this.#devices = new PairedDevices(devices)
  }

  /**
   * Reads the file. A missing one is an empty registry.
   *
   * @throws {DomainError} `DATA_CORRUPT`, `DATA_DIRECTORY_UNUSABLE`, naming file and remedy.
   */
  static async open(options: JsonDeviceRegistryOptions): Promise<JsonDeviceRegistry> {
    return new JsonDeviceRegistry(options, await readDeviceFile(options.path, options.logger))
  }

  get revision(): number {
    return this.#revision
  }

  list(): readonly Device[] {
    return this.#devices.list.map((device) => this.#sightings.merge(device))
  }

  find(idOrUsername: string): Device | undefined {
    const device = this.#devices.find(idOrUsername)
    return device === undefined ? undefined : this.#sightings.merge(device)
  }

  async add(wanted: NewDevice): Promise<MintedDevice> {
    // Refuses before it pays for a hash; what holds is decided when its turn has come.
    chooseNames(wanted, this.#devices.list)
    const password = choosePassword(wanted.password)
    const passwordHash = await this.#options.hasher.hashPassword(password)
    return this.#change(async () => {
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
        usesOldKeys: undefined,
      }
      const next = [...this.#devices.list, device]
      await this.#save(next)
      this.#commit(next)
      return { device, password }
    })
  }

  async rotate(idOrUsername: string, wanted?: string): Promise<MintedDevice> {
    const { id } = this.#get(idOrUsername)
    const password = choosePassword(wanted)
    const passwordHash = await this.#options.hasher.hashPassword(password)
    return this.#change(async () => {
      const device = { ...this.#get(id), passwordHash }
      const next = this.#devices.list.map((other) => (other.id === id ? device : other))
      await this.#save(next)
      this.#commit(next, id)
      return { device: this.#get(id), password }
    })
  }

  revoke(idOrUsername: string): Promise<Device> {
    return this.#change(async () => {
      const device = this.#get(idOrUsername)
      const next = this.#devices.list.filter((other) => other.id !== device.id)
      await this.#save(next)
      this.#commit(next, device.id)
      this.#sightings.forget(device.id)
      return device
    })
  }

  noteSighting(id: string, sighting: Sighting): void {
    const device = this.#devices.find(id)
    if (device === undefined) return
    if (this.#sightings.note(device, sighting)) this.#options.onFirstSighting?.(device)
    this.#watchers.notify()
    if (this.#cancelSave === undefined) this.#saveLater()
  }

  onCredentialGone(listener: (deviceId: string) => void): () => void {
    const own = (deviceId: string): void => listener(deviceId)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** Saves what was only noted. Changes fail from now on. */
  async close(): Promise<void> {
    const isSaved = this.#cancelSave === undefined
    this.#isClosed = true
    this.#cancelSave?.()
    if (!isSaved) this.#saveNow()
    await this.#changes.idle()
  }

  #get(idOrUsername: string): Device {
    const device = this.find(idOrUsername)
    if (device !== undefined) return device
    throw new DomainError('NO_SUCH_DEVICE', `Cannot find a device "${idOrUsername}"`)
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(() => {
      if (this.#isClosed) throw new Error('Cannot change devices: the registry is closed')
      return change()
    })
  }

  /** From here on, and in one tick, the new state is the one that counts. */
  #commit(next: readonly Device[], withoutCredential?: string): void {
    this.#devices = new PairedDevices(next)
    this.#revision++
    this.#watchers.notify()
    if (withoutCredential === undefined) return
    for (const listener of this.#listeners) {
      try {
        listener(withoutCredential)
      } catch (error) {
        // The credential is gone, whatever a listener makes of it; the others must hear too.
        const reason = String(error)
        this.#options.logger.error('Cannot tell that a credential is gone', { reason })
      }
    }
  }

  #saveLater(): void {
    if (this.#isClosed) return
    this.#cancelSave?.()
    this.#cancelSave = this.#options.clock.after(SIGHTINGS_DELAY_MS, () => this.#saveNow())
  }

  #saveNow(): void {
    this.#changes
      .run(() => this.#save(this.#devices.list))
      .catch((error: unknown) => {
        this.#options.logger.warn('Cannot save when devices were seen', { reason: String(error) })
      })
  }

  async #save(devices: readonly Device[]): Promise<void> {
    const { path } = this.#options
    const text = formatDeviceFile(devices.map((device) => this.#sightings.merge(device)))
    // Sightings noted from here on are not in the text.
    this.#cancelSave?.()
    this.#cancelSave = undefined
    try {
      await writeFileAtomically(path, text)
    } catch (cause) {
      // Also brings the file back in line when it was replaced, but not known to be durable.
      this.#saveLater()
      throw saveError(path, cause)
    }
  }
}

function saveError(path: string, cause: unknown): DomainError {
  const code = codeOf(cause) ?? 'an unknown error'
  if (NO_SPACE_CODES.includes(code)) {
    return new DomainError('NO_SPACE', `Cannot save ${path}: there is no space left`, { cause })
  }
  const reason = isShortage(cause)
    ? 'too many files are open; try again'
    : `the system says ${code}; check the folder and its disk`
  return new DomainError('DATA_DIRECTORY_UNUSABLE', `Cannot save ${path}: ${reason}`, { cause })
}
