/** `clipgate`: the daemon, and the gateway for a server of one's own. @module */

export { DomainError, type DomainErrorCode } from './core/domain-error.ts'
export type { ContentId } from './core/content-id.ts'
export type { Item } from './core/item.ts'
export type { ItemType } from './core/item-type.ts'
export {
  openStation,
  type Station,
  type OpenStationOptions,
  type StationWatch,
} from './daemon/open-station.ts'
export type { Surroundings } from './daemon/folders.ts'
export { loadSettings, SettingsError, type SettingSources } from './daemon/load-settings.ts'
export type { HostPort } from './daemon/host-port.ts'
export type { ClipboardChoice, CopyKind, Settings } from './daemon/settings.ts'
export type { LogLevel } from './daemon/stream-logger.ts'
export type { StorageLimits } from './storage/open-storage.ts'
export {
  startDaemon,
  type Daemon,
  type Ready,
  type StartDaemonOptions,
  type Stopped,
} from './daemon/start-daemon.ts'
export { createGateway, type Gateway } from './gateway/create-gateway.ts'
export type { GatewayOptions, GatewayPorts, ReceivedPlace } from './gateway/gateway-ports.ts'
export { serveUpgrades } from './http/upgrade.ts'

// The ports that a gateway asks of its host. The comments of these types are contracts.
export type { Digests } from './core/content-id.ts'
export type { Stamp } from './core/stamp.ts'
export type { Clock } from './lib/clock.ts'
export type {
  Blob,
  BlobBundle,
  BlobMember,
  BlobStore,
  BytesToReceive,
  CopiedGroup,
  HashedBlob,
  LeftOut,
  OpenBlob,
} from './ports/blob.ts'
export type { Change, ChangeFeed } from './ports/change-feed.ts'
export type { CredentialVerifier, Turn } from './ports/credential-verifier.ts'
export type {
  Device,
  DeviceKind,
  DeviceRegistry,
  Dialect,
  Login,
  MintedDevice,
  NewDevice,
  Revocation,
  Sighting,
} from './ports/device-registry.ts'
export type { CircleTime } from './ports/circle-time.ts'
export type {
  AppliedItem,
  BatchBytes,
  InboundBytes,
  InboundItem,
  InboundPipeline,
  KeptBytes,
  Origin,
} from './ports/inbound-pipeline.ts'
export type { LatestItem, StoredItem } from './ports/latest-item.ts'
export type { LogFields, Logger } from './ports/logger.ts'
export type { Transfer, Transfers } from './ports/transfers.ts'
export type {
  BatchMember,
  ReceivedUpload,
  StagedUpload,
  StagingArea,
  PartialHold,
  PartialUpload,
  TakenUpload,
  UploadName,
  UploadSource,
} from './ports/staging-area.ts'

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
