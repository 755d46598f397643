/**
 * Port: what the owner of a daemon may ask of it.
 *
 * Two implementations: over the control listener of a running daemon, and on the data directory
 * (under its lock) while none runs. Commands cannot tell them apart.
 * @module
 */

import type { ItemType } from '../core/item.ts'
import type { BusStatus } from './bus.ts'
import type { Device, DeviceKind, Revocation } from './device-registry.ts'
import type { JoinRequest, PeerSummary } from './peers.ts'

/** A device as its owner sees it: no hash, no password. */
export interface DeviceSummary
  extends Pick<Device, 'id' | 'label' | 'username' | 'kind' | 'lastSeenAddress' | 'lastClient'> {
  /** ISO 8601, UTC, like every time here. */
  readonly createdAt: string
  readonly lastSeenAt: string | undefined
  /** Open event streams and connections to the hub; 0 while no daemon runs. */
  readonly streams: number
  /** Whether it has a valid credential. */
  readonly active: boolean
  /**
   * Logins with its user name and another password, since the daemon was started and the password
   * made; `undefined` when there were none.
   */
  readonly refused:
    | { readonly count: number; readonly lastAt: string; readonly lastAddress: string | undefined }
    | undefined
}

/** A device to pair. What is absent is minted or found out. */
export interface PairRequest {
  readonly kind: DeviceKind
  readonly label: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  /** Base URL to put into the link. */
  readonly url: string | undefined
}

/** Everything that a person needs to connect a device; exists once. */
export interface Pairing extends Pick<Device, 'id' | 'kind' | 'label' | 'username'> {
  readonly password: string
  readonly url: string
  readonly link: string
  /** Opens the phone page with these credentials; absent for peers, and where there is no page. */
  readonly page: string | undefined
  /** Why the address may not be reachable for a phone. */
  readonly warning: string | undefined
}

/** State of one listener. */
export interface ListenerStatus {
  readonly name: 'gateway' | 'tls' | 'control'
  /** Addresses really bound, as URLs. */
  readonly urls: readonly string[]
  readonly error: string | undefined
}

/** The certificate of the listener with TLS. */
export interface TlsStatus {
  readonly source: 'files' | 'local'
  /** Base URLs that its certificate is good for, as links name them; the likeliest first. */
  readonly urls: readonly string[]
  /** Its validity; ISO 8601, UTC. */
  readonly notBefore: string
  readonly notAfter: string
  /** SHA-256 of the authority that phones are to trust, in pairs; `undefined` for files. */
  readonly fingerprint: string | undefined
  /** Why a newer certificate is not used, if there is one. */
  readonly error: string | undefined
}

/** A pause of the desktop's clipboard. */
export interface Pause {
  /** Unix milliseconds, wall-clock time; `undefined`: until it is ended. */
  readonly untilMs: number | undefined
}

/** The bytes of a file on their way, without its name. */
export interface TransferStatus {
  /** `in`: from the device to the daemon. */
  readonly direction: 'in' | 'out'
  /** Label of the device; `undefined` for the owner. */
  readonly device: string | undefined
  readonly bytes: number
  /** `undefined` when the sender did not say. */
  readonly total: number | undefined
}

/** The settings of a daemon that others judge; each as `docs/settings.md` has it. */
export interface DaemonSettings {
  /** Without a trailing slash; `undefined` where it finds a URL out. */
  readonly publicUrl: string | undefined
  readonly allowPublic: boolean
  readonly receivedDir: string
  /** 0: not checked. */
  readonly minFreeBytes: number
  readonly maxFileBytes: number
  readonly stagingQuotaBytes: number
  readonly maxConnections: number
  readonly verifyWorkers: number
}

/** The answer of `clipgate status`. Never content, never a name of anything copied. */
export interface DaemonStatus {
  readonly running: boolean
  readonly pid: number | undefined
  readonly version: string
  readonly startedAt: string | undefined
  readonly mode: 'desktop' | 'headless' | undefined
  readonly clipboard: string
  /** The trouble with the system clipboard, if there is one. */
  readonly clipboardError: string | undefined
  /** Which of the files that were sent are not saved, and why; `undefined` when all are. */
  readonly receivedError: string | undefined
  /** `undefined` while the clipboard is shared, and while no daemon runs. */
  readonly paused: Pause | undefined
  readonly item:
    | {
        readonly type: ItemType
        readonly size: number
        readonly contentId: string
        readonly activatedAt: string
      }
    | undefined
  readonly devices: number
  /** Why credentials that have ended are not saved as such yet, if some are not. */
  readonly devicesError: string | undefined
  /** The settings that it was started with; `undefined` while no daemon runs. */
  readonly settings: DaemonSettings | undefined
  /** Base URLs in links of devices whose address this machine does not have any more. */
  readonly lostUrls: readonly string[]
  readonly storage: {
    readonly dataDir: string
    readonly stagedUploads: number
    readonly stagedBytes: number
    readonly freeBytes: number
    /** Why the disk takes nothing, or no upload; `undefined` when it does. */
    readonly error: string | undefined
  }
  readonly listeners: readonly ListenerStatus[]
  /** `undefined` without TLS, and while no daemon runs. */
  readonly tls: TlsStatus | undefined
  /** The files that are on their way and take a moment. */
  readonly transfers: readonly TransferStatus[]
  /** The joined daemons. */
  readonly peers: readonly PeerSummary[]
  /** `undefined` without a bus, and while no daemon runs. */
  readonly bus: BusStatus | undefined
}

/** The owner's hold on a daemon. */
export interface Admin {
  status(): Promise<DaemonStatus>
  devices(): Promise<readonly DeviceSummary[]>
  /** @param signal As `DeviceRegistry.add`. @throws {DomainError} as that. */
  pair(request: PairRequest, signal?: AbortSignal): Promise<Pairing>
  /** @param url Base URL for the link. @throws {DomainError} as `DeviceRegistry.rotate`. */
  rotate(idOrUsername: string, url?: string, signal?: AbortSignal): Promise<Pairing>
  /** @throws {DomainError} as `DeviceRegistry.revoke`; without a daemon also `NO_SPACE`. */
  revoke(idOrUsername: string): Promise<Revocation>
  /** @throws as `Peers.join`. */
  join(request: JoinRequest): Promise<PeerSummary>
  /** @throws as `Peers.leave`. */
  leave(name: string): Promise<{ readonly name: string }>
  peers(): Promise<readonly PeerSummary[]>
  /** Gives the daemon or the data directory back. */
  close(): Promise<void>
}
