/**
 * The real gateway in real time, with its owner: passwords cost nothing here, so
 * that the doctor can come by the dozen.
 * @module
 */

import type { TestContext } from 'node:test'
import { createDeviceAdmin } from '../../../src/control/device-admin.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createIdlePeers } from '../../../src/peers/peer-connections.ts'
import { STATUS } from '../../support/fake-admin.ts'
import { serveGateway } from '../../support/gateway.ts'
import { MemoryPeerStore } from '../../support/memory-peer-store.ts'

/** Between pings: nobody waits long for a sign of life. */
const HEARTBEAT_MS = 20

/** Serves until the test ends, behind a proxy on this machine, with one phone paired. */
export async function serveQuickGateway(t: TestContext) {
  const served = await serveGateway(t, {
    realTime: systemClock,
    heartbeatMs: HEARTBEAT_MS,
    trustedProxies: ['127.0.0.1'],
  })
  const { url, device, devices, password, gateway, phone } = served
  t.after(() => gateway.closeStreams())
  const admin = createDeviceAdmin({
    devices,
    status: async () => STATUS,
    linkBase: () => ({ url, warning: undefined }),
    hasPhonePage: true,
    countStreams: (id) => gateway.countStreams(id),
    refusalsOf: () => undefined,
    peers: createIdlePeers(new MemoryPeerStore()),
    close: async () => undefined,
  })
  return { url, admin, phone, device, credentials: { user: device.username, pwd: password } }
}
