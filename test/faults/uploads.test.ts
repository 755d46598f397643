import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { connectTo, FORM_TYPE, formatHead, formatPart } from './support/raw-device.ts'
import { stage, startPaired, take } from './support/subject.ts'
import { vitalsOf } from './support/vitals.ts'
import { MIB } from '../../src/core/limits.ts'

const [LENGTH, CHUNKED] = ['Content-Length: 5000\r\n', 'Transfer-Encoding: chunked\r\n']
const BYTES = 'x'.repeat(1000)
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const field = (name: string, value: string) => `${formatPart(`name="${name}"`, value)}\r\n`
const file = (name: string, content: string) => formatPart(`name="${name}"; filename="a"`, content)
const FILE = `${file('data', BYTES)}\r\n`
const FORM = `${field('type', 'File')}${field('hash', 'ab')}`
const lastChunk = (text: string) => `${chunk(text)}0\r\n\r\n`

/** How an upload fails after `start` has come: the client goes without `rest` and `status`. */
interface Failure {
  readonly framing: string
  readonly start: string
  /** Without it, the client says that nothing more comes. */
  readonly rest?: string
  readonly status?: number
}

const FAILURES: Readonly<Record<string, readonly Failure[]>> = {
  'PUT /file/a': [
    { framing: LENGTH, start: BYTES },
    { framing: LENGTH, start: BYTES, status: 400 },
    { framing: CHUNKED, start: chunk(BYTES), rest: 'no size\r\n', status: 400 },
    { framing: CHUNKED, start: chunk(BYTES), rest: chunk('x'.repeat(MIB)), status: 413 },
  ],
  'POST /api/history': [
    { framing: LENGTH, start: file('data', BYTES) },
    // The file is complete, and only its description is missing.
    { framing: LENGTH, start: `${FILE}--b\r\n`, status: 400 },
    {
      framing: CHUNKED,
      start: chunk(file('data', BYTES)),
      rest: chunk('x'.repeat(MIB)),
      status: 413,
    },
    ...(
      [
        ['--b--\r\n', 400],
        [`${field('type', 'File')}--b--\r\n`, 400],
        [`${FORM}${field('dataName', '../a')}--b--\r\n`, 400],
        [`${field('type', 'Text')}${field('hash', 'ab')}--b`, 400],
        ['--b\r\nno header\r\n\r\n', 400],
        [file('thumbnail', 'y'.repeat(MIB + 1)), 413],
        [field('other', 'y').repeat(64), 413],
      ] as const
    ).map(([rest, status]) => {
      return { framing: CHUNKED, start: chunk(FILE), rest: lastChunk(rest), status }
    }),
  ],
}

async function assertNothingStays(t: TestContext, line: string, type = ''): Promise<void> {
  const { daemon, device, phone } = await startPaired(t, { args: ['--max-file-bytes', '1MiB'] })
  await phone.pushText('before')
  await stage(phone, 'a', 'the earlier one')
  const vitals = vitalsOf(daemon)
  const uploads = vitals.uploads()
  assert.equal(uploads.length, 2)
  const begin = async (framing: string, start: string) => {
    const client = await connectTo(daemon)
    client.send(formatHead(line, device, type + framing) + start)
    while (vitals.uploads().length === uploads.length) await phone.fetch('/healthz')
    return client
  }
  for (const { framing, start, rest, status } of FAILURES[line] ?? []) {
    const client = await begin(framing, start)
    if (status === undefined) client.close()
    else {
      if (rest === undefined) client.socket.end()
      else client.send(rest)
      const { status: answered, headers } = await client.read()
      assert.equal(answered, status, rest?.slice(0, 100))
      if (rest?.endsWith('0\r\n\r\n') !== true) assert.equal(headers['connection'], 'close')
    }
    await vitals.settled({ uploads })
    assert.equal((await phone.document())['text'], 'before')
  }
  if (type === FORM_TYPE) {
    // What had to give way to the part that is meant is gone at once.
    const other = await begin(CHUNKED, chunk(`${file('thumbnail', BYTES)}\r\n`))
    other.send(chunk(FILE))
    while (vitals.uploads().length > uploads.length + 1) await phone.fetch('/healthz')
    assert.equal((await other.send(lastChunk(`${FORM}--b--\r\n`)).read()).status, 200)
    assert.equal(vitals.uploads().length, uploads.length + 1)
    assert.equal(String(await phone.download()), BYTES)
  }
  assert.equal(await take(phone, 'a'), 'the earlier one')
}

// Protocol: leaves nothing; an earlier one of that name still waits
it('an upload that breaks off leaves nothing, and the earlier one of its name as it was', (t) =>
  assertNothingStays(t, 'PUT /file/a'))

// Protocol: Nothing is kept of a form that breaks off or is refused
it('a form with a file that breaks off, or is refused in the end, leaves nothing', (t) =>
  assertNothingStays(t, 'POST /api/history', FORM_TYPE))

it('a download ends with the bytes it began with, whatever becomes current meanwhile', async (t) => {
  const { daemon, phone } = await startPaired(t)
  // More than sockets buffer.
  const bytes = Buffer.alloc(24 * 1024 * 1024, 'the old bytes, ')
  await phone.pushFile('File', 'a', bytes)
  const response = await phone.fetch('/file/a')
  await phone.pushFile('File', 'a', Buffer.from('the new bytes'))
  assert.equal(vitalsOf(daemon).uploads().length, 1)
  assert.ok(bytes.equals(Buffer.from(await response.arrayBuffer())))
  assert.equal(String(await phone.download()), 'the new bytes')
})
