/** Port: the paired devices and their credentials. @module */

import type { Owner } from '../core/owner.ts'

/** A phone reads and pushes; a peer is another daemon. */
export type DeviceKind = 'phone' | 'peer'

/** How a client spells the protocol; see `gateway/dialect.ts`. */
export type Dialect = 'sync' | 'syncclipboard'

/** One paired device. */
export interface Device {
  /** `did_` and 32 hex digits. */
  readonly id: string
  readonly kind: DeviceKind
  readonly label: string
  readonly username: string
  /** Argon2id hash of the password as a PHC string; `undefined` once it was cleared. */
  readonly passwordHash: string | undefined
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly lastSeenAt: number | undefined
  readonly lastSeenAddress: string | undefined
  /** `User-Agent` of its last request, cut to a sane length. */
  readonly lastClient: string | undefined
  /** The dialect of the document path it used last. */
  readonly dialect: Dialect | undefined
  /** The dialect whose clients alone do what it did last; see `gateway/dialect.ts`. */
  readonly reads?: Dialect | undefined
  /** Whether the document it pushed last had the keys of versions 1 and 2 of the protocol. */
  readonly usesOldKeys?: boolean | undefined
  /** Whether it tells another Image or File by another hash; see `gateway/dialect.ts`. */
  readonly isExact?: boolean | undefined
  /** Base URL in the link that it was shown last. */
  readonly linkUrl?: string | undefined
}

/** The one who reads and sends items: a paired device, or the owner on the same machine. */
export type Principal = Device | Owner

/**
 * Who logged in, and with which credential: a device that has another password since, or is not
 * paired any more, has no say in what this login began.
 */
export interface Login {
  readonly deviceId: string
  readonly passwordHash?: string | undefined
}

/** The traces of a device in a request. */
export interface Sighting {
  /** Unix milliseconds. */
  readonly at: number
  readonly address: string | undefined
  readonly client: string | undefined
  /** Only when the request says: the document path decides. */
  readonly dialect?: Dialect | undefined
  /** Only when the request says. */
  readonly reads?: Dialect | undefined
  /** Only when the request says. */
  readonly usesOldKeys?: boolean | undefined
  /** Only when the request says. */
  readonly isExact?: boolean | undefined
}

/** The logins of a device that were refused for their password. */
export interface LoginRefusals {
  readonly count: number
  /** Unix milliseconds. */
  readonly lastAt: number
  readonly lastAddress: string | undefined
}

/** A new device, as a person asks for it. What is absent is minted. */
export interface NewDevice {
  readonly kind: DeviceKind
  /** 1 to 64 characters. */
  readonly label?: string | undefined
  readonly username?: string | undefined
  /** 8 to 256 characters. */
  readonly password?: string | undefined
  /** Base URL in its link. */
  readonly linkUrl?: string | undefined
}

/** A device with its password: the only time that anybody sees it. */
export interface MintedDevice {
  readonly device: Device
  readonly password: string
}

/** A device that was removed. */
export interface Revocation {
  readonly id: string
  /** Why the revocation counts and is not saved: a restart would undo it. */
  readonly unsaved: string | undefined
}

/** The devices that may log in. */
export interface DeviceRegistry {
  /** Grows with every change of a credential: conclusions from an earlier value may be wrong. */
  readonly revision: number

  /** Why an end of a credential that counts already is not saved yet; `undefined` when all are. */
  readonly unsaved: string | undefined

  /** In the order of pairing. */
  list(): readonly Device[]
  /** The device with this id or user name, as it is now. */
  find(idOrUsername: string): Device | undefined
  /** Whether the credential of a login is still that of its device. The owner needs none. */
  isValid(login: Login): boolean

  /**
   * Pairs a device, durably.
   *
   * @param signal Aborted when nobody waits any more for the password; then nothing is changed.
   * @throws {DomainError} `USERNAME_INVALID`, `USERNAME_TAKEN`, `PASSWORD_INVALID`,
   *   `LABEL_INVALID`, `NO_SPACE`.
   */
  add(device: NewDevice, signal?: AbortSignal): Promise<MintedDevice>

  /**
   * Gives a device a new password. The old one fails, and whoever listens to `onCredentialGone` has
   * ended what it began, before this settles.
   *
   * When the new password cannot be saved there is none, and the old one fails too: the
   * device is left without a valid credential until it is rotated again.
   *
   * @param linkUrl Base URL in its new link; that of the old one unless given.
   * @param signal As for {@link add}.
   * @throws {DomainError} `NO_SUCH_DEVICE`; `PASSWORD_INVALID`; `NO_SPACE`.
   */
  rotate(
    idOrUsername: string,
    password?: string,
    linkUrl?: string,
    signal?: AbortSignal,
  ): Promise<MintedDevice>

  /**
   * Removes a device, as `rotate` about its credential. It counts also when it cannot be saved, and
   * is saved once that is possible.
   *
   * @throws {DomainError} `NO_SUCH_DEVICE`.
   */
  revoke(idOrUsername: string): Promise<Revocation>

  /** Remembers that a device was there; written lazily, and lost by a crash at worst. */
  noteSighting(id: string, sighting: Sighting): void

  /**
   * Calls `listener` in the tick in which a device's credential stops being valid. `rotate` and
   * `revoke` wait for what it returns: for the end of what was done for the device at that time.
   *
   * @returns Ends the subscription.
   */
  onCredentialGone(listener: (deviceId: string) => unknown): () => void

  /**
   * Calls `listener` whenever `list` may tell something else than before, sightings included: with
   * each request of a device. Listeners return at once and do not throw.
   *
   * @returns Ends the subscription.
   */
  onChange(listener: () => void): () => void
}
