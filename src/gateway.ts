/**
 * `clipgate/gateway`: the protocol for a server of one's own, and the data directory behind it.
 * Nothing of the daemon, of desktops or of commands is behind this entry.
 * @module
 */

export { DomainError, type DomainErrorCode } from './core/domain-error.ts'
export type { ContentId } from './core/content-id.ts'
export type { Item } from './core/item.ts'
export type { ItemType } from './core/item-type.ts'
export {
  openStation,
  type Station,
  type OpenStationOptions,
  type StationWatch,
} from './station/open-station.ts'
export type { StorageLimits } from './storage/open-storage.ts'
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
