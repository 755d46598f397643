/**
 * The port `Admin` on a device registry: of a running daemon, or of its data directory. Makes the
 * connect links of devices.
 * @module
 */

import { tell, type ChangedBy, type HappeningKind } from '../core/happening.ts'
import { type ConnectPayload, formatConnectLink, pageLinkOf } from '../link/connect-link.ts'
import { LinkError } from '../link/link-error.ts'
import type { Admin, DaemonStatus, DeviceSummary, Pairing } from '../ports/admin.ts'
import type {
  Device,
  DeviceRegistry,
  LoginRefusals,
  MintedDevice,
} from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import type { Peers } from '../ports/peers.ts'

/** The base URL of a link, and why a phone may not reach it. */
export interface LinkBase {
  readonly url: string
  readonly warning: string | undefined
}

/** Names the family of protocols, so that a client of several knows which one to speak. */
const PROTOCOL = 'syncclipboard'

/** As long as the longest user name, and as the passwords that are minted. */
const LONGEST_USERNAME = 'x'.repeat(32)
const MINTED_PASSWORD = 'x'.repeat(22)

interface DeviceAdminOptions {
  readonly devices: DeviceRegistry
  readonly status: () => Promise<DaemonStatus>
  /** The base URL of links, as it is now. */
  readonly linkBase: () => LinkBase
  /** Whether the gateway serves the phone page. */
  readonly hasPhonePage: boolean
  /** Open event streams of a device. */
  readonly countStreams: (deviceId: string) => number
  /** The refused logins of a device, if there were any. */
  readonly refusalsOf: (deviceId: string) => LoginRefusals | undefined
  readonly peers: Peers
  readonly close: () => Promise<void>
}

/** Makes the port. Its `pair` and `rotate` also throw `LinkError`, before anything has changed. */
export function createDeviceAdmin(options: DeviceAdminOptions): Admin {
  const { devices, status, linkBase, hasPhonePage, countStreams, refusalsOf } = options
  const { peers, close } = options

  function baseOf(url: string | undefined): LinkBase {
    return url === undefined ? linkBase() : { url, warning: undefined }
  }

  const pair: Admin['pair'] = async ({ url, ...wanted }, signal) => {
    const base = baseOf(url)
    checkLinkable(base.url, wanted.username, wanted.password)
    const minted = await devices.add({ ...wanted, linkUrl: base.url }, signal)
    // Its password was seen by nobody.
    if (signal?.aborted === true) await devices.revoke(minted.device.id)
    signal?.throwIfAborted()
    return toPairing(minted, base, hasPhonePage)
  }

  const rotate: Admin['rotate'] = async (idOrUsername, url, signal) => {
    const base = baseOf(url)
    checkLinkable(base.url, devices.find(idOrUsername)?.username, undefined)
    const minted = await devices.rotate(idOrUsername, undefined, base.url, signal)
    return toPairing(minted, base, hasPhonePage)
  }

  return {
    status,
    devices: async () => {
      return devices.list().map((device) => {
        return summarise(device, countStreams(device.id), refusalsOf(device.id))
      })
    },
    pair,
    rotate,
    revoke: (idOrUsername) => devices.revoke(idOrUsername),
    join: (request) => peers.join(request),
    leave: (name) => peers.leave(name),
    peers: async () => peers.list(),
    close,
  }
}

/** An `Admin` that also writes a line in the log for each credential that begins or ends. */
export function withTrail(admin: Admin, logger: Logger, by: ChangedBy): Admin {
  const find = async (idOrUsername: string): Promise<DeviceSummary | undefined> => {
    const devices = await admin.devices()
    return devices.find(({ id, username }) => idOrUsername === id || idOrUsername === username)
  }
  const note = (kind: HappeningKind, { id, label }: Pick<DeviceSummary, 'id' | 'label'>): void => {
    tell(logger, { kind, device: id, label, by })
  }

  const pair: Admin['pair'] = async (request, signal) => {
    const pairing = await admin.pair(request, signal)
    note('paired', pairing)
    return pairing
  }

  const rotate: Admin['rotate'] = async (idOrUsername, url, signal) => {
    const before = await find(idOrUsername)
    try {
      const pairing = await admin.rotate(idOrUsername, url, signal)
      note('rotated', pairing)
      return pairing
    } catch (error) {
      // The old one has ended, and the new one could not be saved.
      const after = before?.active ? await find(idOrUsername) : undefined
      if (after?.active === false) note('ended', after)
      throw error
    }
  }

  const revoke: Admin['revoke'] = async (idOrUsername) => {
    const before = await find(idOrUsername)
    const revocation = await admin.revoke(idOrUsername)
    if (before !== undefined) note('revoked', before)
    return revocation
  }

  return { ...admin, pair, rotate, revoke }
}

function summarise(
  device: Device,
  streams: number,
  refusals: LoginRefusals | undefined,
): DeviceSummary {
  const { id, label, username, kind, lastSeenAddress, lastClient } = device
  return {
    id,
    label,
    username,
    kind,
    createdAt: toIso(device.createdAt),
    lastSeenAt: device.lastSeenAt === undefined ? undefined : toIso(device.lastSeenAt),
    lastSeenAddress,
    lastClient,
    streams,
    active: device.passwordHash !== undefined,
    refused: refusals && {
      count: refusals.count,
      lastAt: toIso(refusals.lastAt),
      lastAddress: refusals.lastAddress,
    },
  }
}

function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString()
}

/** Everything that connects a device, from its minted credential. */
function toPairing(
  { device, password }: MintedDevice,
  { url, warning }: LinkBase,
  hasPhonePage: boolean,
): Pairing {
  const { id, kind, label, username } = device
  const link = formatLink({ url, user: username, pwd: password }, id, label)
  const page = hasPhonePage && kind === 'phone' ? pageLinkOf(link, url) : undefined
  return { id, kind, label, username, password, url, link, page, warning }
}

/**
 * Checks that there can be a link before a device is paired: a device whose password nobody was
 * shown would be of no use.
 *
 * @throws {LinkError}
 */
function checkLinkable(url: string, username: string | undefined, password: string | undefined) {
  const isUsable = username !== undefined && /^[A-Za-z][A-Za-z0-9_]{5,31}$/.test(username)
  // Whether the name will do is for the registry to say; here only lengths count.
  const user = isUsable ? username : LONGEST_USERNAME
  formatConnectLink({ url, user, pwd: password || MINTED_PASSWORD })
}

/** A link with as much of the metadata as fits: nothing depends on it. */
function formatLink(core: ConnectPayload, did: string, label: string): string {
  const proto = PROTOCOL
  for (const o of [{ did, label, proto }, { did, proto }, { proto }]) {
    try {
      return formatConnectLink({ ...core, o })
    } catch (error) {
      if (!(error instanceof LinkError) || error.code !== 'LINK_TOO_LONG') throw error
    }
  }
  return formatConnectLink(core)
}
