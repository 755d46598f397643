/**
 * The message hub through a proxy.
 * @module
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { connect } from 'node:tls'
import { HANDSHAKE, HUB_FAREWELL, HubClient, hubHead } from '../support/hub-client.ts'
import { createPhone } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'
import { SITE } from './support/certificate.ts'
import type { ProxiedDaemon } from './support/proxied-daemon.ts'

const ROUNDS = 5

/** A connection to the proxy. */
export async function connectRaw(t: TestContext, site: ProxiedDaemon): Promise<RawClient> {
  const { proxy, certificate } = site
  const options = { port: proxy.port, host: '127.0.0.1', ca: certificate.cert, servername: SITE }
  const socket = connect(options)
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  return new RawClient(socket)
}

/** Each change is awaited while nothing follows it that could push it out of a buffer. */
export async function testHub(t: TestContext, site: ProxiedDaemon): Promise<void> {
  const listener = await site.daemon.pair('Hub')
  const { authorization } = createPhone(listener, site.daemon.ready.gateway)
  const head = hubHead(authorization).replace('Host: box', `Host: ${SITE}`)
  const client = await HubClient.on(await connectRaw(t, site), head)
  client.say(HANDSHAKE)
  assert.deepEqual(await client.hear(), [{}])
  for (let round = 0; round < ROUNDS; round++) {
    await site.phone.pushText(`round ${round}`)
    assert.equal((await client.hear()).length, 2)
  }

  await site.daemon.run('revoke', listener.id)
  assert.deepEqual(await client.hear(), [HUB_FAREWELL])
  assert.equal(await client.end(), 1001)
  const { status } = await (await connectRaw(t, site)).send(head).read()
  assert.equal(status, 401)
}
