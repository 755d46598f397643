/**
 * The port `Admin` on a device registry: of a running daemon, or of its data directory.
 *
 * @module
 */

import type { Admin, DaemonStatus, DeviceSummary, Pairing, PairRequest } from '../ports/admin.ts'
import type { Device, DeviceRegistry } from '../ports/device-registry.ts'
import type { Peers } from '../ports/peers.ts'
import { checkLinkable, toPairing, type LinkBase } from './pairing.ts'

export interface DeviceAdminOptions {
  readonly devices: DeviceRegistry
  readonly status: () => Promise<DaemonStatus>
  /** The base URL of links, as it is now. */
  readonly linkBase: () => LinkBase
  /** Open event streams of a device. */
  readonly countStreams: (deviceId: string) => number
  readonly peers: Peers
  readonly close: () => Promise<void>
}

/** @throws From `pair` and `rotate` also `LinkError`, before anything has changed. */
export function createDeviceAdmin(options: DeviceAdminOptions): Admin {
  const { devices, status, linkBase, countStreams, peers, close } = options

  function baseOf(url: string | undefined): LinkBase {
    return url === undefined ? linkBase() : { url, warning: undefined }
  }

  async function pair({ url, ...wanted }: PairRequest): Promise<Pairing> {
    const base = baseOf(url)
    checkLinkable(base.url, wanted.username, wanted.password)
    return toPairing(await devices.add(wanted), base)
  }

  async function rotate(idOrUsername: string, url?: string): Promise<Pairing> {
    const base = baseOf(url)
    checkLinkable(base.url, devices.find(idOrUsername)?.username, undefined)
    return toPairing(await devices.rotate(idOrUsername), base)
  }

  async function list(): Promise<readonly DeviceSummary[]> {
    return devices.list().map((device) => summarise(device, countStreams(device.id)))
  }

  return {
    status,
    devices: list,
    pair,
    rotate,
    revoke: (idOrUsername) => devices.revoke(idOrUsername),
    join: (request) => peers.join(request),
    leave: (name) => peers.leave(name),
    peers: async () => peers.list(),
    close,
  }
}

function summarise(device: Device, streams: number): DeviceSummary {
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
  }
}

function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
