/**
 * The real gateway on memory ports, in real time, with its owner: passwords cost nothing here, so
 * that the doctor can come by the dozen.
 *
 * @module
 */

import { createIdlePeers } from '../../../src/peers/peer-links.ts'
import { MemoryPeerStore } from '../../support/memory-peer-store.ts'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { createDeviceAdmin } from '../../../src/control/device-admin.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGateway } from '../../../src/gateway/create-gateway.ts'
import { ChangeHub } from '../../../src/inbound/change-hub.ts'
import { ClipboardPipeline } from '../../../src/inbound/clipboard-pipeline.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { STATUS } from '../../support/fake-admin.ts'
import { FakeVerifier } from '../../support/fake-verifier.ts'
import { listen } from '../../support/listen.ts'
import { MemoryBlobStore } from '../../support/memory-blob-store.ts'
import { MemoryDeviceRegistry } from '../../support/memory-device-registry.ts'
import { MemoryLatestItem } from '../../support/memory-latest-item.ts'
import { MemoryStagingArea } from '../../support/memory-staging-area.ts'
import { createPhone } from '../../support/phone.ts'

/** Between pings: nobody waits long for a sign of life. */
const HEARTBEAT_MS = 20

/** Serves until the test ends, behind a proxy on this machine, with one phone paired. */
export async function serveQuickGateway(t: TestContext) {
  const clock = systemClock
  const logger = new CaptureLogger()
  const blobs = new MemoryBlobStore()
  const staging = new MemoryStagingArea(blobs)
  const latest = new MemoryLatestItem()
  const changes = new ChangeHub()
  const inbound = new ClipboardPipeline({ staging, latest, changes, clock, logger })
  const devices = new MemoryDeviceRegistry()
  const verifier = new FakeVerifier(devices)
  const ports = { devices, verifier, latest, staging, inbound, changes, clock, logger }
  const gateway = createGateway(ports, {
    version: '1.2.3',
    heartbeatMs: HEARTBEAT_MS,
    trustedProxies: ['127.0.0.1'],
  })
  const server = createServer(gateway).on('checkContinue', gateway)
  t.after(() => gateway.closeStreams())
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const admin = createDeviceAdmin({
    devices,
    status: async () => STATUS,
    linkBase: () => ({ url, warning: undefined }),
    countStreams: (id) => gateway.countStreams(id),
    peers: createIdlePeers(new MemoryPeerStore()),
    close: async () => undefined,
  })
  const { device, password } = await devices.add({ kind: 'phone', label: 'Phone' })
  const credentials = { user: device.username, pwd: password }
  const phone = createPhone({ username: device.username, password }, url)
  return { url, admin, phone, device, credentials, verifier, staging, logger }
}
