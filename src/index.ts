/** `clipgate`: the daemon, as the command runs it, and what its owner may ask of it. @module */

export { DomainError, type DomainErrorCode } from './core/domain-error.ts'
export type { Surroundings } from './daemon/folders.ts'
export { loadSettings, SettingsError, type SettingSources } from './daemon/load-settings.ts'
export type { HostPort } from './daemon/host-port.ts'
export type { ClipboardChoice, CopyKind, Settings } from './daemon/settings.ts'
export {
  startDaemon,
  type Daemon,
  type Ready,
  type StartDaemonOptions,
  type Stopped,
} from './daemon/start-daemon.ts'
export type { Witness } from './daemon/witness.ts'
export type { ContentId } from './core/content-id.ts'
export type { Item, Sender } from './core/item.ts'
export type { ItemType } from './core/item.ts'
export type { Stamp } from './core/stamp.ts'
export type { Clock } from './lib/clock.ts'
export type { Device, DeviceKind, Dialect, Revocation } from './ports/device-registry.ts'
export type { ChangedBy, Happening, HappeningKind } from './core/happening.ts'
export type { LogFields, Logger } from './ports/logger.ts'
export type { LogLevel } from './station/stream-logger.ts'

// The questions that the owner of a daemon may ask it.
export type {
  Admin,
  DaemonSettings,
  DaemonStatus,
  DeviceSummary,
  ListenerStatus,
  PairRequest,
  Pairing,
  Pause,
  TlsStatus,
  TransferStatus,
} from './ports/admin.ts'
export type { BusState, BusStatus } from './ports/bus.ts'
export type {
  JoinRequest,
  JoinedPeer,
  PeerState,
  PeerStore,
  PeerSummary,
  Peers,
} from './ports/peers.ts'
