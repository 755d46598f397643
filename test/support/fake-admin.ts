/** A real `Admin` over a registry of the test. @module */

import { createDeviceAdmin, type LinkBase } from '../../src/control/device-admin.ts'
import { createIdlePeers } from '../../src/peers/peer-connections.ts'
import type { Admin, DaemonStatus } from '../../src/ports/admin.ts'
import type { DeviceRegistry } from '../../src/ports/device-registry.ts'
import { MemoryPeerStore } from './memory-peer-store.ts'
import { openTestDevices } from './test-devices.ts'

export const STATUS: DaemonStatus = {
  running: true,
  pid: 4711,
  version: '1.2.3',
  startedAt: '2026-01-31T12:34:56.789Z',
  mode: 'desktop',
  clipboard: 'x11',
  clipboardError: undefined,
  receivedError: undefined,
  paused: undefined,
  item: {
    type: 'Image',
    size: 1234,
    contentId: `blake3v1:${'0'.repeat(64)}`,
    activatedAt: '2026-01-31T12:00:00.000Z',
  },
  devices: 0,
  devicesError: undefined,
  settings: undefined,
  lostUrls: [],
  storage: { dataDir: '/data', stagedUploads: 1, stagedBytes: 5, freeBytes: 6, error: undefined },
  listeners: [{ name: 'gateway', urls: ['http://127.0.0.1:42720'], error: undefined }],
  tls: undefined,
  transfers: [],
  peers: [],
  bus: undefined,
}

export interface FakeAdmin extends Admin {
  readonly devices: Admin['devices']
  readonly registry: DeviceRegistry
}

/** @param devices The registry behind it, instead of an empty one. */
export async function createFakeAdmin(
  base: Partial<LinkBase> = {},
  hasPhonePage = true,
  devices?: DeviceRegistry,
): Promise<FakeAdmin> {
  const registry = devices ?? (await openTestDevices())
  const admin = createDeviceAdmin({
    devices: registry,
    status: async () => ({ ...STATUS, devices: registry.list().length }),
    linkBase: () => ({ url: 'http://192.168.1.20:42720', warning: undefined, ...base }),
    hasPhonePage,
    countStreams: () => 2,
    refusalsOf: () => undefined,
    peers: createIdlePeers(new MemoryPeerStore()),
    close: async () => undefined,
  })
  return { ...admin, registry }
}
