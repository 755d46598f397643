import assert from 'node:assert/strict'
import { it } from 'node:test'
import { connectTo, formatHead } from './support/raw-device.ts'
import { startPaired } from './support/subject.ts'
import { until, waitingFiles } from './support/waiting-files.ts'

const MULTIPART = 'Content-Type: multipart/form-data; boundary=b\r\n'

const CHUNKED = `${MULTIPART}Transfer-Encoding: chunked\r\n`

const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

const file = (name: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n\r\n${content}`

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

it('a form with a file that breaks off, or is refused in the end, leaves nothing', async (t) => {
  const { daemon, device, phone } = await startPaired(t, { args: ['--max-file-bytes', '1MiB'] })
  await phone.pushText('before')
  await phone.fetch('/file/a', { method: 'PUT', body: 'staged before' })
  const before = await waitingFiles(daemon)
  assert.equal(before.length, 2)

  const begin = async (headers: string, part: string) => {
    const client = await connectTo(daemon)
    client.send(formatHead('POST /api/history', device, headers) + part)
    await until(phone, async () => (await waitingFiles(daemon)).length > before.length)
    return client
  }
  const cleaned = async () => {
    await until(phone, async () => (await waitingFiles(daemon)).length === before.length)
    assert.deepEqual(await waitingFiles(daemon), before)
    assert.equal((await phone.document())['text'], 'before')
  }
  const bytes = 'x'.repeat(1000)

  const aborted = await begin(`${MULTIPART}Content-Length: 5000\r\n`, file('data', bytes))
  aborted.close()
  await cleaned()

  // The file is complete, and only its description is missing.
  const complete = `${file('data', bytes)}\r\n`
  const halfClosed = await begin(`${MULTIPART}Content-Length: 5000\r\n`, `${complete}--b\r\n`)
  halfClosed.socket.end()
  assert.equal((await halfClosed.read()).status, 400)
  await cleaned()

  for (const [rest, status] of [
    ['--b--\r\n', 400],
    [`${field('type', 'File')}--b--\r\n`, 400],
    [`${field('type', 'File')}${field('hash', 'ab')}${field('dataName', '../a')}--b--\r\n`, 400],
    [`${field('type', 'Text')}${field('hash', 'ab')}--b`, 400],
    ['--b\r\nno header\r\n\r\n', 400],
    [file('thumbnail', 'y'.repeat(0x100001)), 413],
    [field('other', 'y').repeat(64), 413],
  ] as const) {
    const refused = await begin(CHUNKED, chunk(complete))
    refused.send(`${chunk(rest)}0\r\n\r\n`)
    assert.equal((await refused.read()).status, status, rest.slice(0, 100))
    await cleaned()
  }

  const tooLong = await begin(CHUNKED, chunk(file('data', bytes)))
  tooLong.send(chunk('x'.repeat(0x100000)))
  const refusal = await tooLong.read()
  assert.deepEqual([refusal.status, refusal.headers['connection']], [413, 'close'])
  await cleaned()

  // What had to give way to the part that is meant is gone at once.
  const other = await begin(CHUNKED, chunk(`${file('thumbnail', bytes)}\r\n`))
  other.send(chunk(`${file('data', bytes)}\r\n`))
  await until(phone, async () => (await waitingFiles(daemon)).length === before.length + 1)
  other.send(`${chunk(`${field('type', 'File')}${field('hash', 'ab')}--b--\r\n`)}0\r\n\r\n`)
  assert.equal((await other.read()).status, 200)
  assert.equal((await waitingFiles(daemon)).length, before.length + 1)
  assert.equal(String(await phone.download()), bytes)
})
