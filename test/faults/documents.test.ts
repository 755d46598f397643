import assert from 'node:assert/strict'
import { it } from 'node:test'
import { connectTo, formatHead } from './support/raw-device.ts'
import { startPaired } from './support/subject.ts'
import { MIB } from '../../src/core/limits.ts'

/** A document of exactly this many bytes. */
function documentOf(bytes: number): string {
  const [before, after] = ['{"type":"Text","text":"', '"}']
  return before + 'a'.repeat(bytes - before.length - after.length) + after
}

it('a document made to hurt is refused, or is one like any other', async (t) => {
  const { daemon, device, phone } = await startPaired(t)
  await phone.pushText('before')
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const lessDeep = '['.repeat(19_000) + ']'.repeat(19_000)
  const keys = Array.from({ length: 300_000 }, (_, index) => `"k${index}":${index}`).join()
  for (const [body, status, text] of [
    [deep, 400, 'before'],
    ['{"type":'.repeat(100_000), 400, 'before'],
    [`{"type":"Text","text":"deeper","more":${deep}}`, 400, 'before'],
    [`{"type":"Text","text":"deep","more":${lessDeep}}`, 200, 'deep'],
    [`{"type":"Text","text":"keys",${keys}}`, 400, 'deep'],
    [`{"type":"Text","text":"\\u0041","more":"${'\\n'.repeat(5 * MIB)}"}`, 200, 'A'],
    ['{"__proto__":{"text":"no"},"type":"Text","text":"proto"}', 200, 'proto'],
    ['{"type":"Text","text":"a\\u0000b"}', 200, 'a\0b'],
    ['{"type":"Text","text":"\\ud800"}', 200, '\ufffd'],
    ['\ufeff{"type":"Text","text":"mark"}', 200, 'mark'],
    ['{"type":"Text","text":"big","size":1e999}', 200, 'big'],
    [new Uint8Array([0x22, 0xff, 0x22]), 400, 'big'],
  ] as const) {
    const response = await phone.fetch('/Sync.json', { method: 'PUT', body })
    assert.equal(response.status, status, String(body).slice(0, 60))
    assert.equal((await phone.document())['text'], text)
    assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204)
  }

  const largest = documentOf(16 * MIB)
  const taken = await phone.fetch('/Sync.json', { method: 'PUT', body: largest })
  assert.equal(taken.status, 200)
  assert.equal((await phone.document())['text'], JSON.parse(largest).text)

  const client = await connectTo(daemon)
  const headers = `Content-Length: ${16 * MIB + 1}\r\nExpect: 100-continue\r\n`
  client.send(formatHead('PUT /Sync.json', device, headers))
  assert.equal((await client.read()).status, 413)
  assert.equal(await client.readToEnd(), '')
  assert.equal(daemon.stderr(), '')
})
