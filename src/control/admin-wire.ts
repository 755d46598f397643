/**
 * The JSON of the control listener: the values of the port `Admin`, to whose types the compiler
 * holds each decoder, and failures that the owner of a daemon can mend.
 *
 * Members stand in a type and in a decoder: `isolatedDeclarations` wants exported types in writing,
 * and commands may be older or newer than the daemon while an update waits for a restart.
 * @module
 */

import type { DomainErrorCode } from '../core/domain-error.ts'
import { MAX_PAUSE_MS } from '../core/limits.ts'
import { CHANGERS, HAPPENING_KINDS } from '../core/happening.ts'
import { ITEM_TYPES } from '../core/item.ts'
import {
  arrayOf,
  decodeBoolean,
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  oneOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import type { DaemonStatus, DeviceSummary, Pairing, PairRequest, Pause } from '../ports/admin.ts'
import type { BusStatus } from '../ports/bus.ts'
import type { Revocation } from '../ports/device-registry.ts'
import type { Happened } from '../ports/panel.ts'
import type { JoinRequest, PeerSummary } from '../ports/peers.ts'

/** The HTTP status of each failure. A code that is not listed here is unexpected: a 500. */
export const OWNER_ERROR_STATUS: Readonly<Partial<Record<DomainErrorCode, number>>> = {
  NO_SUCH_DEVICE: 404,
  USERNAME_TAKEN: 409,
  USERNAME_INVALID: 400,
  PASSWORD_INVALID: 400,
  LABEL_INVALID: 400,
  NO_CLIPBOARD: 409,
  NO_SUCH_PEER: 404,
  PEER_INVALID: 400,
  PEER_NAME_TAKEN: 409,
  PEER_REFUSED: 409,
  NO_SPACE: 507,
  DATA_DIRECTORY_UNUSABLE: 507,
}

const isDuration = (value: number): boolean =>
  Number.isInteger(value) && value >= 1 && value <= MAX_PAUSE_MS

const decodeKind = oneOf(['phone', 'peer'])

export const decodePairRequest: Decoder<PairRequest> = objectOf({
  kind: decodeKind,
  label: optional(decodeString),
  username: optional(decodeString),
  password: optional(decodeString),
  url: optional(decodeString),
})

export const decodePairing: Decoder<Pairing> = objectOf({
  id: decodeString,
  kind: decodeKind,
  label: decodeString,
  username: decodeString,
  password: decodeString,
  url: decodeString,
  link: decodeString,
  page: optional(decodeString),
  warning: optional(decodeString),
})

export const decodeRotateRequest: Decoder<Pick<PairRequest, 'url'>> = objectOf({
  url: optional(decodeString),
})

export const decodePauseRequest: Decoder<{ readonly durationMs: number | undefined }> = objectOf({
  durationMs: optional(matching(decodeNumber, isDuration, `from 1 to ${MAX_PAUSE_MS}`)),
})

export const decodeSearchRequest: Decoder<{ readonly word: string }> = objectOf({
  word: decodeString,
})

export const decodePause: Decoder<Pause> = objectOf({ untilMs: optional(decodeNumber) })

export const decodeRevoked: Decoder<Revocation> = objectOf({
  id: decodeString,
  unsaved: optional(decodeString),
})

export const decodeJoinRequest: Decoder<JoinRequest> = objectOf({
  link: decodeString,
  name: optional(decodeString),
  tlsFingerprint: optional(decodeString),
})

export const decodePeer: Decoder<PeerSummary> = objectOf({
  name: decodeString,
  url: decodeString,
  username: decodeString,
  tlsFingerprint: optional(decodeString),
  state: oneOf(['stopped', 'connecting', 'connected', 'polling', 'waiting', 'refused']),
  error: optional(decodeString),
})

export const decodePeers: Decoder<readonly PeerSummary[]> = arrayOf(decodePeer)

export const decodeLeft: Decoder<{ readonly name: string }> = objectOf({ name: decodeString })

export const decodeDevices: Decoder<readonly DeviceSummary[]> = arrayOf(
  objectOf({
    id: decodeString,
    label: decodeString,
    username: decodeString,
    kind: decodeKind,
    createdAt: decodeString,
    lastSeenAt: optional(decodeString),
    lastSeenAddress: optional(decodeString),
    lastClient: optional(decodeString),
    streams: decodeNumber,
    active: decodeBoolean,
    refused: optional(
      objectOf({ count: decodeNumber, lastAt: decodeString, lastAddress: optional(decodeString) }),
    ),
  }),
)

export const decodeHappenings: Decoder<readonly Happened[]> = arrayOf(
  objectOf({
    id: decodeNumber,
    at: decodeString,
    kind: oneOf(HAPPENING_KINDS),
    device: optional(decodeString),
    label: optional(decodeString),
    by: optional(oneOf(CHANGERS)),
    type: optional(oneOf(ITEM_TYPES)),
    size: optional(decodeNumber),
    times: optional(decodeNumber),
    address: optional(decodeString),
    untilMs: optional(decodeNumber),
  }),
)

const decodeBus: Decoder<BusStatus> = objectOf({
  urls: arrayOf(decodeString),
  state: oneOf(['connecting', 'connected', 'waiting']),
  error: optional(decodeString),
  group: decodeString,
  members: decodeNumber,
  refused: decodeNumber,
})

export const decodeStatus: Decoder<DaemonStatus> = objectOf({
  running: decodeBoolean,
  pid: optional(decodeNumber),
  version: decodeString,
  startedAt: optional(decodeString),
  mode: optional(oneOf(['desktop', 'headless'])),
  clipboard: decodeString,
  clipboardError: optional(decodeString),
  receivedError: optional(decodeString),
  paused: optional(decodePause),
  item: optional(
    objectOf({
      type: oneOf(ITEM_TYPES),
      size: decodeNumber,
      contentId: decodeString,
      activatedAt: decodeString,
    }),
  ),
  devices: decodeNumber,
  devicesError: optional(decodeString),
  settings: optional(
    objectOf({
      publicUrl: optional(decodeString),
      allowPublic: decodeBoolean,
      receivedDir: decodeString,
      minFreeBytes: decodeNumber,
      maxFileBytes: decodeNumber,
      stagingQuotaBytes: decodeNumber,
      maxConnections: decodeNumber,
      verifyWorkers: decodeNumber,
    }),
  ),
  lostUrls: arrayOf(decodeString),
  storage: objectOf({
    dataDir: decodeString,
    stagedUploads: decodeNumber,
    stagedBytes: decodeNumber,
    freeBytes: decodeNumber,
    error: optional(decodeString),
  }),
  listeners: arrayOf(
    objectOf({
      name: oneOf(['gateway', 'tls', 'control']),
      urls: arrayOf(decodeString),
      error: optional(decodeString),
    }),
  ),
  tls: optional(
    objectOf({
      source: oneOf(['files', 'local']),
      urls: arrayOf(decodeString),
      notBefore: decodeString,
      notAfter: decodeString,
      fingerprint: optional(decodeString),
      error: optional(decodeString),
    }),
  ),
  transfers: arrayOf(
    objectOf({
      direction: oneOf(['in', 'out']),
      device: optional(decodeString),
      bytes: decodeNumber,
      total: optional(decodeNumber),
    }),
  ),
  peers: arrayOf(decodePeer),
  bus: optional(decodeBus),
})
