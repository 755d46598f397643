import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatConnectLink } from '../../src/link.ts'
import { createIdlePeers, PeerBook } from '../../src/peers/peer-connections.ts'
import { startFakeGateway } from '../client/support/fake-gateway.ts'
import { ClientClock } from '../client/support/client-clock.ts'
import { MemoryPeerStore } from '../support/memory-peer-store.ts'

/** A link with more in it than the encoder lets through; the decoder takes up to 1 MiB. */
function linkTo(url: string): string {
  const payload = JSON.stringify({ v: 1, url, user: 'peer_1234', pwd: 'secret' })
  return `clip://connect?v=1&svc=mobile-sync&p=${Buffer.from(payload).toString('base64url')}`
}

describe('joining with a link', () => {
  it('comes to its end when the URL has half a million slashes and a letter behind them', () => {
    const book = new PeerBook(new MemoryPeerStore())
    const slashes = '/'.repeat(512 * 1024)
    const urlFor = (url: string): string => {
      const request = { link: linkTo(url), name: undefined, tlsFingerprint: undefined }
      return book.prepare(request).url
    }
    assert.ok(urlFor(`http://example.org${slashes}x`) === `http://example.org${slashes}x`)
    assert.equal(urlFor(`http://example.org${slashes}`), 'http://example.org')
  })
  it('has one name for both sides, and is left by that, the URL or the host', async () => {
    const store = new MemoryPeerStore()
    const book = new PeerBook(store)
    const join = async (url: string, label: string): Promise<string> => {
      const link = formatConnectLink({ url, user: 'peer_1234', pwd: 'secret', o: { label } })
      const peer = book.prepare({ link, name: undefined, tlsFingerprint: undefined })
      await store.save([...store.peers.filter(({ name }) => name !== peer.name), peer])
      return peer.name
    }
    assert.equal(await join('http://10.9.0.1:42720', 'desk'), 'desk')
    assert.equal(await join('http://10.9.0.1:42720', 'another'), 'desk')
    assert.equal(await join('http://10.9.0.2:42720', 'desk'), 'desk-2')
    assert.equal(await join('http://10.9.0.3:42720', 'My  desk'), 'My-desk')
    assert.equal(await join('http://10.9.0.3:42721', 'a/b'), '10.9.0.3:42721')
    await assert.rejects(book.remove('10.9.0.3'), { code: 'NO_SUCH_PEER' })
    assert.equal(await book.remove('10.9.0.1'), 'desk')
    assert.equal(await book.remove('10.9.0.3:42720'), 'My-desk')
    assert.equal(await book.remove('desk-2'), 'desk-2')
    assert.equal(await book.remove('http://10.9.0.3:42721'), '10.9.0.3:42721')
    assert.deepEqual(store.peers, [])
  })

  it('refuses a server that trickles, before a command gives its own daemon up', async (t) => {
    let trickle = (): unknown => undefined
    const { url } = await startFakeGateway(t, (response) => {
      trickle = () => response.write(' ')
      response.write(' ')
    })
    const clock = new ClientClock()
    const store = new MemoryPeerStore()
    const link = formatConnectLink({ url, user: 'peer_1234', pwd: 'secret' })
    let isOver = false
    const request = { link, name: undefined, tlsFingerprint: undefined }
    const joining = createIdlePeers(store, clock).join(request)
    const refused = assert.rejects(joining, { code: 'PEER_REFUSED' }).finally(() => (isOver = true))
    while (!isOver) {
      await Promise.race([refused, clock.set.next()])
      clock.advance(1000)
      trickle()
    }
    await refused
    assert.ok(clock.monotonic() < 15_000, `${clock.monotonic()} ms`)
    assert.deepEqual(store.peers, [])
  })
})
