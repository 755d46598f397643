/**
 * The real gateway in real time, with its owner: passwords cost nothing here, so
 * that the doctor can come by the dozen.
 * @module
 */

import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/lib/clock.ts'
import { createFakeAdmin } from '../../support/fake-admin.ts'
import { serveGateway } from '../../support/gateway.ts'

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
  const admin = await createFakeAdmin({ url }, true, devices)
  return { url, admin, phone, device, credentials: { user: device.username, pwd: password } }
}
