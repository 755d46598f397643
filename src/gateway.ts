/**
 * `clipgate/gateway`: the protocol for a server of one's own, and the data directory behind it.
 * Nothing of the daemon, of desktops or of commands is behind this entry.
 * @module
 */

export { DomainError, type DomainErrorCode } from './core/domain-error.ts'
export type { ContentId } from './core/content-id.ts'
export type { Item, Sender } from './core/item.ts'
export type { ItemType } from './core/item.ts'
export {
  openStation,
  type Station,
  type OpenStationOptions,
  type StationWatch,
} from './station/open-station.ts'
export type { StorageLimits } from './storage/open-storage.ts'
export { createGateway, type Gateway } from './gateway/create-gateway.ts'
export type {
  Computer,
  FindWelcome,
  GatewayOptions,
  GatewayPorts,
  ReceivedPlace,
  SecureWay,
} from './gateway/gateway-ports.ts'
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
  LoginRefusals,
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
export type { LatestItem, PutOptions, StoredItem } from './ports/latest-item.ts'
export type { ChangedBy, Happening, HappeningKind } from './core/happening.ts'
export type { FindTrustFile, TrustedBy, TrustFile } from './ports/trust-file.ts'
export type { LogFields, Logger } from './ports/logger.ts'
export type { JoinedPeer, PeerStore } from './ports/peers.ts'
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

// Parts of a station that are more than ports.
export type { RunningTransfers } from './gateway/running-transfers.ts'
export type { CircleClock } from './inbound/circle-clock.ts'
export type { ClipboardPipeline, Applied, Effect } from './inbound/clipboard-pipeline.ts'
export type { FileSaves, SaveFiles } from './inbound/file-saves.ts'
export type { Member } from './inbound/stamp-order.ts'
export type { JsonDeviceRegistry } from './devices/json-device-registry.ts'
export type { RefusedLogins } from './devices/refused-logins.ts'
export type { DataDirectory } from './storage/home/data-directory.ts'
export type { Storage } from './storage/open-storage.ts'
export type { DiskStagingArea } from './storage/uploads/disk-staging-area.ts'
export type { DiskRoom, Expendable, ReserveRoom } from './ports/disk-room.ts'
export type { RecentItem, RecentItems } from './ports/panel.ts'
