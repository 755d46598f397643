import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { BODY_IDLE_MS } from '../../src/http/read-body.ts'
import { serveGuarded } from '../support/guarded-gateway.ts'
import { Mailbox } from '../support/mailbox.ts'
import { RawClient, type RawResponse } from '../support/raw-http.ts'
import { isTlsSpoken } from '../support/secure-twin.ts'

/** More than is looked at before an upload has begun. */
const START = 'x'.repeat(100)

const HOURS = 8

const FORM_HEAD = '--b\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\n'
const FIELD_HEAD = '\r\n--b\r\nContent-Disposition: form-data; name='
const FORM_END = `${FIELD_HEAD}"type"\r\n\r\nFile${FIELD_HEAD}"hash"\r\n\r\nab\r\n--b--\r\n`

/** Uploads, by what stands around their bytes. */
const UPLOADS = [
  { line: 'PUT /file/a', type: 'application/pdf', before: '', after: '' },
  {
    line: 'POST /api/history',
    type: 'multipart/form-data; boundary=b',
    before: FORM_HEAD,
    after: FORM_END,
  },
] as const

/** A gateway that tells of each piece of an upload that has arrived, and owns the time. */
async function serveSlowly(t: TestContext) {
  const arrived = new Mailbox<number>()
  async function* watch(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      arrived.put(chunk.length)
      yield chunk
    }
  }
  const at = await serveGuarded(t, {
    staging: { receive: (source, bytes) => at.storage.staging.receive(source, watch(bytes)) },
  })
  const begin = async ({ line, type, before }: (typeof UPLOADS)[number], size: number) => {
    const client = await RawClient.open(t, at.port)
    const fields = [`Authorization: ${at.authorization}`, `Content-Type: ${type}`]
    const head = [`${line} HTTP/1.1`, 'Host: box', ...fields, `Content-Length: ${size}`, '', '']
    client.send(head.join('\r\n') + before + START)
    await arrived.next()
    return client
  }
  return { ...at, arrived, begin }
}

describe('what follows a file in a form', () => {
  it('has no longer than other bodies, however steadily it drips', async (t) => {
    const { clock, begin, countWaiting, countBlobs, phone } = await serveSlowly(t)
    const client = await begin(UPLOADS[1], 10_000)
    client.send(`${FIELD_HEAD}"hash"\r\n\r\n`)
    const answers: RawResponse[] = []
    const reading = client.read().then((answer) => answers.push(answer))
    while (answers.length === 0) {
      // By the time that somebody else is answered the last drip has come.
      await phone.fetch('/api/time')
      clock.advance(BODY_IDLE_MS / 4)
      client.send('y')
    }
    await reading
    const [answer] = answers
    assert.ok(answer)
    assert.equal(JSON.parse(answer.body).code, 'BODY_TIMEOUT')
    assert.deepEqual([answer.status, countWaiting(), await countBlobs()], [408, 0, 0])
  })
})

for (const upload of UPLOADS) {
  const { line, before, after } = upload
  describe(`${line} of which a byte comes now and then`, () => {
    it(`is taken whole after ${HOURS} hours`, async (t) => {
      const { clock, arrived, begin, countWaiting, latest } = await serveSlowly(t)
      const bytes = HOURS * 60
      const size = before.length + START.length + bytes + after.length
      const client = await begin(upload, size)
      for (let sent = 0; sent < bytes; sent++) {
        clock.advance(BODY_IDLE_MS - 1)
        client.send('y')
        assert.equal(await arrived.next(), 1)
      }
      const answer = await client.send(after).read()
      assert.equal(answer.status, 200)
      assert.equal(countWaiting() + (latest.current === undefined ? 0 : 1), 1)
      assert.equal(latest.current?.item.size ?? START.length + bytes, START.length + bytes)
      // Encrypted, each answer waits for a moment, and is looked after once.
      const looks = isTlsSpoken() ? 1 : 0
      assert.equal(clock.pending, countWaiting() + looks, 'its own expiry')
    })

    // Protocol: 60 s without any are the end
    it('is given up when none has come for a minute, and leaves nothing', async (t) => {
      const { clock, begin, countWaiting, countBlobs, latest } = await serveSlowly(t)
      const client = await begin(upload, 10_000)
      clock.advance(BODY_IDLE_MS - 1)
      clock.advance(1)
      const answer = await client.read()
      assert.deepEqual([answer.status, answer.headers['connection']], [408, 'close'])
      assert.equal(JSON.parse(answer.body).code, 'BODY_TIMEOUT')
      assert.deepEqual([countWaiting(), await countBlobs(), latest.current], [0, 0, undefined])
    })
  })
}
