import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { readObject } from '../support/phone.ts'
import { sha256 } from '../support/hashes.ts'

const BYTES = Buffer.from('the bytes of a photo')
const NAME = 'X-SyncClipboard-Transfer-Data-Hash'
const HASH = sha256(BYTES).toUpperCase()

/** Pushes the bytes with a promise for them. */
async function pushWith(t: TestContext, promise: string) {
  const served = await serveGateway(t)
  const body = new FormData()
  body.set('type', 'File')
  body.set('hash', HASH)
  body.set('data', new Blob([BYTES]), 'a.bin')
  const headers = { [NAME]: promise }
  const response = await served.phone.fetch('/api/history', { method: 'POST', body, headers })
  return { ...served, response }
}

describe('the hash of bytes on their way', () => {
  it('stands above the bytes of a record, in upper case', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushFile('File', 'a.bin', BYTES)
    const response = await phone.fetch(`/api/history/File-${HASH}/data`)
    assert.equal(response.headers.get(NAME), HASH)
    assert.equal(await response.text(), BYTES.toString())
  })

  for (const promise of [HASH, HASH.toLowerCase()]) {
    it(`is kept by bytes that are what ${promise.slice(0, 8)}… says`, async (t) => {
      const { response, phone } = await pushWith(t, promise)
      assert.equal(response.status, 200)
      assert.deepEqual(await phone.download(), BYTES)
    })
  }

  it('refuses other bytes, and keeps nothing of them', async (t) => {
    const { response, phone, countBlobs } = await pushWith(t, '0'.repeat(64))
    assert.equal(response.status, 422)
    assert.equal((await readObject(response))['code'], 'history_data_invalid')
    assert.equal((await phone.document())['hash'], '')
    assert.equal(await countBlobs(), 0)
  })

  for (const promise of ['', 'nonsense', HASH.slice(1), `${HASH}, ${HASH}`]) {
    it(`is refused when it is "${promise.slice(0, 8)}…" of ${promise.length} characters`, async (t) => {
      const { response, countWaiting } = await pushWith(t, promise)
      assert.equal(response.status, 400)
      assert.equal(countWaiting(), 0)
    })
  }
})
