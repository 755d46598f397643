import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PeerBook } from '../../src/peers/peer-book.ts'
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
})
