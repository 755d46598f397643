/**
 * Every route, at every stage of a request, when its device is revoked or rotated, or the daemon is
 * stopped: one daemon for each of these, with a request of each kind under way.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { DeviceStreams } from '../../src/gateway/device-streams.ts'
import { deviceRoutes } from '../../src/gateway/routes.ts'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { openEvents } from '../support/event-reader.ts'
import { serveGateway } from '../support/gateway.ts'
import { onlyAtNight } from '../support/night.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import type { RawClient } from '../support/raw-http.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { NEW_PHONE, ownerOf } from '../support/owner.ts'
import {
  announce,
  connectTo,
  FORM_TYPE,
  formatHead,
  formatPart,
  formatRequest,
} from './support/raw-device.ts'
import { commit, stage, startHeadless } from './support/subject.ts'
import { inject, needsTracing, STANDSTILL } from './support/trace.ts'
import { MIB } from '../../src/core/limits.ts'

/** More than the buffers of a socket take while nobody reads. */
const FILE = Buffer.alloc(12 * MIB, 'the file of the other device ')
const TEXT = 'the text of the other device '.repeat((7 * MIB) / 29)

/** What waits may take so much; while one device was promised so much, another one is not. */
const QUOTA = 512 * MIB
const PROMISED = 300 * MIB

/** With the long text that it reads as a record, all the memory that one device may hold. */
const LONG_DOCUMENT = 8 * MIB

/** Two of these are all the memory for documents, of which the first device then holds nothing. */
const LONGEST_DOCUMENT = 15 * MIB

const FIELDS = 'Content-Type: application/x-www-form-urlencoded\r\n'

/** What comes with this is a push, whatever else the device does meanwhile. */
const SYNC_CLIENT = 'User-Agent: UniClipboard/2.0\r\n'

const WEB_SOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  '',
].join('\r\n')

interface Row {
  /** Where it is asked for; `{name}` and `{upload}` are others in each cell. */
  readonly line: string
  /** The row of the table of the gateway; as `line` says, unless it is given. */
  readonly route?: string
  /** More header lines. */
  readonly fields?: string
  readonly body?: (name: string) => string
  /** Waits in the pipeline when it is complete. */
  readonly isQueued?: true
  /** Its answer is longer than what the system takes from us. */
  readonly isLong?: true
}

/** A form with a file of this name. */
function formOf(name: string, ...more: readonly string[]): string {
  const parts = [...more, formatPart('name="type"', 'File'), formatPart('name="hash"', 'ab')]
  const file = formatPart(`name="data"; filename="${name}"`, `bytes of ${name}`)
  return [...parts, file, '--b--\r\n'].join('\r\n')
}

const document = (text: string): string => JSON.stringify({ type: 'Text', text })
const bytes = (name: string): string => `bytes of ${name}`
const PIECE = 'Content-Type: application/partial-upload\r\nUpload-Offset: 0\r\n'
const [BEGUN, LAST] = ['Upload-Complete: ?0\r\n', 'Upload-Complete: ?1\r\n'] as const
const [upload, post] = [{ route: 'PUT /file/{dataName}' }, { line: 'POST /api/history' }]
const [isQueued, isLong] = [true, true] as const

const ROWS: readonly Row[] = [
  { line: 'PUT /Sync.json', body: document, isQueued },
  // Documents of what it has staged before.
  { line: 'PUT /Sync.json', body: () => '{"type":"File","dataName":"waits"}', isQueued },
  { line: 'PUT /SyncClipboard.json', body: document, isQueued },
  { ...upload, line: 'PUT /file/{name}', body: bytes },
  { ...upload, line: 'PUT /file/waits', body: bytes },
  { ...upload, line: 'PUT /file/{name}', fields: BEGUN, body: bytes },
  {
    route: 'PATCH /file-uploads/{token}',
    line: 'PATCH {upload}',
    fields: PIECE + LAST,
    body: bytes,
  },
  ...['GET', 'DELETE'].map((method) => ({
    route: `${method} /file-uploads/{token}`,
    line: `${method} {upload}`,
  })),
  { route: 'OPTIONS /file/{dataName}', line: 'OPTIONS /file/a' },
  {
    ...post,
    fields: FIELDS + SYNC_CLIENT,
    isQueued,
    body: (name) => `type=Text&hash=ab&text=${name}`,
  },
  { ...post, fields: FORM_TYPE + SYNC_CLIENT, isQueued, body: (name) => formOf(name) },
  {
    // A record of which only the bytes are kept.
    ...post,
    fields: `${FORM_TYPE}User-Agent: SyncClipboard/3.0\r\n`,
    body: (name) => formOf(name, formatPart('name="createTime"', '2020-01-01T00:00:00Z')),
  },
  { line: 'POST /api/history/query', fields: FIELDS, body: (name) => `page=1&searchText=${name}` },
  {
    route: 'PATCH /api/history/{type}/{hash}',
    line: 'PATCH /api/history/Text/ab',
    fields: 'Content-Type: application/json\r\n',
    body: (name) => JSON.stringify({ starred: name }),
  },
  { line: 'GET /Sync.json', isLong },
  { line: 'GET /SyncClipboard.json', isLong },
  { route: 'GET /file/{dataName}', line: 'GET /file/large', isLong },
  { route: 'GET /api/history/{profileId}', line: 'GET /api/history/{text}', isLong },
  { route: 'GET /api/history/{profileId}/data', line: 'GET /api/history/{file}/data', isLong },
  { line: 'GET /api/sse/clipboard', isLong },
  { line: 'GET /SyncClipboardHub', fields: WEB_SOCKET, isLong },
  { line: 'POST /SyncClipboardHub/negotiate' },
  ...['GET', 'OPTIONS', 'PROPFIND', 'MKCOL'].map((method) => ({ line: `${method} /` })),
  ...['GET', 'DELETE', 'PROPFIND', 'MKCOL'].map((method) => ({ line: `${method} /file` })),
  ...['time', 'version', 'history/statistics'].map((name) => ({ line: `GET /api/${name}` })),
  { line: 'GET /version' },
  { line: 'DELETE /api/history/clear' },
]

type Stage =
  | 'half its head'
  | 'its head'
  | 'half its body'
  | 'all but a byte'
  | 'all of it'
  | 'answered'
  | 'half answered'

function stagesOf({ body, isLong, isQueued }: Row): readonly Stage[] {
  if (body === undefined) return ['half its head', isLong === true ? 'half answered' : 'answered']
  const parts = ['half its head', 'its head', 'half its body', 'all but a byte'] as const
  return isQueued === true ? [...parts, 'all of it'] : parts
}

/** A request at a stage. */
interface Cell {
  readonly name: string
  readonly stage: Stage
  readonly client: RawClient
  /** What is still to be sent. */
  readonly rest: string
}

type Scene = Awaited<ReturnType<typeof setUp>>

/** The device goes; the second one stays, and the third one. */
async function setUp(t: TestContext, grace: string, folder?: string) {
  const args = ['--grace', grace, '--staging-quota-bytes', `${QUOTA}`, '--min-free-bytes', '0']
  const devices = ['One', 'Two', 'Three']
  const own = folder ?? (await temporaryFolder(t))
  const daemon = await startHeadless(t, { args, folder: own, devices })
  const [device, second, third] = [
    await daemon.pair('One'),
    await daemon.pair('Two'),
    await daemon.pair('Three'),
  ]
  const other = createPhone(second, daemon.ready.gateway)
  await other.pushFile('File', 'large', FILE)
  const file = await profileOf(other)
  await other.pushText(TEXT)
  const text = await profileOf(other)
  await stage(createPhone(device, daemon.ready.gateway), 'waits', 'it waits')

  let number = 0
  async function beginOne(row: Row, stage: Stage): Promise<Cell> {
    const id = `cell${number++}`
    const upload = row.line.includes('{upload}') ? await beginUpload(daemon, device) : ''
    const names = { '{name}': id, '{text}': text, '{file}': file, '{upload}': upload }
    const line = row.line.replace(
      /\{(?:name|text|file|upload)\}/,
      (name) => names[name as keyof typeof names],
    )
    const client = await connectTo(daemon)
    t.after(() => client.close())
    const rest = await sendTo(stage, client, { ...row, line, device, body: row.body?.(id) ?? '' })
    return { name: `${line}, ${stage}, ${id}`, stage, client, rest }
  }
  /** Begins a request for each row and stage that is wanted. */
  const begin = (isWanted: (stage: Stage) => boolean): Promise<readonly Cell[]> =>
    Promise.all(
      ROWS.flatMap((row) =>
        stagesOf(row)
          .filter(isWanted)
          .map((stage) => beginOne(row, stage)),
      ),
    )
  return { daemon, device, second, third, other, begin, data: join(daemon.folder, 'data') }
}

/** Begins an upload that can be resumed. @returns The path where it goes on. */
async function beginUpload(daemon: DaemonProcess, device: PairedDevice): Promise<string> {
  const { gateway } = daemon.ready
  const { status, headers } = await createPhone(device, gateway).fetch('/file/begun', {
    method: 'PUT',
    headers: { 'upload-complete': '?0' },
  })
  assert.equal(status, 201)
  return headers.get('location') ?? ''
}

async function profileOf(phone: Phone): Promise<string> {
  const { type, hash } = await phone.document()
  return `${String(type)}-${String(hash)}`
}

interface Sending extends Pick<Row, 'line' | 'fields'> {
  readonly device: PairedDevice
  readonly body: string
}

/** Sends a request up to a stage. @returns The rest. */
async function sendTo(
  stage: Stage,
  client: RawClient,
  { line, device, fields = '', body }: Sending,
): Promise<string> {
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
  const head = formatHead(line, device, fields + length)
  if (stage === 'half its head') {
    const whole = formatHead(line, device, `${fields}${length}Connection: close\r\n`) + body
    client.send(whole.slice(0, 40))
    return whole.slice(40)
  }
  if (stage === 'half answered') {
    await client.send(head).readUntil('\r\n\r\n')
    client.socket.pause()
    return ''
  }
  if (stage === 'answered') {
    assert.ok((await client.send(head).read()).status < 300, line)
    return head
  }
  if (stage === 'all of it') {
    client.send(head + body)
    return ''
  }
  client.send(formatHead(line, device, `${fields}${length}Expect: 100-continue\r\n`))
  assert.equal((await client.read()).status, 100, line)
  const sent = {
    'its head': 0,
    'half its body': body.length / 2,
    'all but a byte': body.length - 1,
  }[stage]
  client.send(body.slice(0, sent))
  return body.slice(sent)
}

/** Begins requests that take much of what all share: room for uploads, and memory for documents. */
async function takeBudgets(
  { daemon }: Pick<Scene, 'daemon'>,
  device: PairedDevice,
  document: number,
): Promise<readonly RawClient[]> {
  const begun = [
    announce(daemon, device, 'PUT /file/promised', PROMISED),
    announce(daemon, device, 'PUT /Sync.json', document),
  ]
  return (await Promise.all(begun)).map((client) => client.send('x'.repeat(100)))
}

/** Whatever was sent before has been read when this resolves. */
async function hasRead({ ready }: DaemonProcess): Promise<void> {
  const headers = { connection: 'close' }
  assert.equal((await fetch(`${ready.gateway}/healthz`, { headers })).status, 204)
}

/** Sends what is left of each request, and checks that nothing came of it. */
async function assertNothingCame(cells: readonly Cell[]): Promise<void> {
  await Promise.all(
    cells.map(async ({ name, stage, client, rest }) => {
      client.send(rest).socket.resume()
      const answer = await client.readToEnd()
      // Nobody knew yet whose request it is.
      if (stage === 'half its head') assert.match(answer, /^HTTP\/1\.1 4/, name)
      else if (stage === 'half answered') assert.ok(answer.length < TEXT.length, name)
      else assert.equal(answer, '', name)
    }),
  )
}

async function assertOnlyItemIsKept({ data }: Scene): Promise<void> {
  assert.deepEqual(await readdir(join(data, 'staging')), [])
  assert.equal((await readdir(join(data, 'blobs'))).length, 1)
}

/** The pipeline stands still when the next item is written. */
function holdPipeline(t: TestContext, { daemon, data }: Scene): Promise<() => Promise<void>> {
  const path = join(data, 'item.json')
  return inject(t, daemon.ready.pid, { calls: 'link', fault: STANDSTILL, paths: [path] })
}

/** The other device has all that there is, and goes on with what it was doing. */
async function startOther(t: TestContext, scene: Scene) {
  const { daemon, second, third, other } = scene
  const { gateway } = daemon.ready
  const events = await openEvents(t, gateway, other.authorization)
  await events.next()
  const download = await other.fetch('/file/large')
  return async (): Promise<void> => {
    assert.ok(FILE.equals(Buffer.from(await download.arrayBuffer())), 'its download')
    const held = [second, third].map((stays) => takeBudgets(scene, stays, LONGEST_DOCUMENT))
    for (const client of (await Promise.all(held)).flat()) client.close()
    await other.pushText('it goes on')
    let frame = await events.next()
    while (frame !== undefined && 'comment' in frame) frame = await events.next()
    assert.ok(frame !== undefined && 'event' in frame && frame.event === 'update', 'its stream')
    await other.pushFile('File', 'last', FILE)
    assert.ok(FILE.equals(await other.download()))
  }
}

it('every request of a device, at every stage, is in the table', async (t) => {
  const at = await serveGateway(t)
  const routes = deviceRoutes(at, new DeviceStreams(at), { version: '' })
  const known = new Set(ROWS.map(({ route, line }) => route ?? line))
  assert.deepEqual(new Set(routes.map(({ method, pattern }) => `${method} ${pattern}`)), known)
})

for (const command of ['revoke', 'rotate'] as const) {
  // Both end a credential in one place: by day, what follows is shown of one of them.
  const byTurns = command === 'revoke' ? needsTracing : onlyAtNight(() => needsTracing)
  // Protocol: broken off without an answer and change nothing
  it(`every request of a device, at every stage, changes nothing once ${command} has returned, and holds nothing`, async (t) => {
    const scene = await setUp(t, '5m')
    const { daemon, device, other, begin } = scene
    const cells = await begin((stage) => stage !== 'all of it')
    const goOn = await startOther(t, scene)
    await takeBudgets(scene, device, LONG_DOCUMENT)
    const expected = await other.document()
    const { stdout } = await daemon.run(command, '--json', device.id)
    await assertOnlyItemIsKept(scene)
    await assertNothingCame(cells)
    await assertOnlyItemIsKept(scene)
    assert.deepEqual(await other.document(), expected)
    await goOn()

    const { gateway } = daemon.ready
    assert.equal((await createPhone(device, gateway).fetch('/')).status, 401)
    if (command === 'rotate') {
      const renewed = createPhone(JSON.parse(stdout), gateway)
      assert.equal(await commit(renewed, 'waits'), 404)
    }
    assert.equal(daemon.stderr(), '')
  })

  it(
    `every request of a device, at every stage, changes nothing after ${command} while it waits for its turn`,
    byTurns,
    async (t) => {
      const scene = await setUp(t, '5m')
      const { daemon, device, other, begin } = scene
      const letGo = await holdPipeline(t, scene)
      const first = other.pushText('it comes first')
      await hasRead(daemon)
      const queued = await begin((stage) => stage === 'all of it')
      await hasRead(daemon)
      const changed = daemon.run(command, device.id)
      await assertNothingCame(queued)
      await letGo()
      await Promise.all([first, changed])
      await assertOnlyItemIsKept(scene)
      assert.equal((await other.document())['text'], 'it comes first')
      await other.pushText('it comes last')
      assert.equal((await other.document())['text'], 'it comes last')
      await assertOnlyItemIsKept(scene)
    },
  )

  it(
    `every request of a device, at every stage, happens before ${command} returns, or never, when it is being written`,
    byTurns,
    async (t) => {
      const scene = await setUp(t, '5m')
      const { daemon, device, data } = scene
      const letGo = await holdPipeline(t, scene)
      const client = await connectTo(daemon)
      const body = document('it is being written')
      client.send(formatRequest('PUT /Sync.json', device, body))
      await hasRead(daemon)
      let hasReturned = false
      const changed = daemon.run(command, device.id).then(() => (hasReturned = true))
      assert.equal(await client.readToEnd(), '')
      await hasRead(daemon)
      assert.equal(hasReturned, false)
      await letGo()
      await changed
      const item = await readFile(join(data, 'item.json'), 'utf8')
      assert.equal(await daemon.stop(), 0)
      assert.equal(await readFile(join(data, 'item.json'), 'utf8'), item)
    },
  )

  it(`every request of a device, at every stage, leaves nothing staged after ${command} without a daemon`, async (t) => {
    const { daemon, device, data } = await setUp(t, '0')
    assert.equal(await daemon.stop(), 0)
    assert.equal((await readdir(join(data, 'staging'))).length, 1)
    await daemon.run(command, device.id)
    assert.deepEqual(await readdir(join(data, 'staging')), [])
    assert.equal((await readdir(join(data, 'blobs'))).length, 1)
  })
}

it('every request of a device, at every stage, is cut when its device is revoked while the daemon stops, which waits for others', async (t) => {
  const scene = await setUp(t, '5m')
  const { daemon, device } = scene
  const passing: readonly Stage[] = ['half its head', 'answered', 'all of it']
  const begun = await scene.begin((stage) => !passing.includes(stage))
  const second = await (await ownerOf(daemon)).pair(NEW_PHONE)
  const late = await announce(daemon, second, 'PUT /file/late', 4)
  const exit = once(daemon.child, 'exit')
  daemon.child.kill('SIGTERM')
  await daemon.run('revoke', device.id)
  await assertNothingCame(begun)
  assert.equal((await late.send('late').read()).status, 200)
  assert.deepEqual(await exit, [0, null])
  assert.equal(daemon.stderr(), '')
  assert.equal((await readdir(join(scene.data, 'staging'))).length, 1)
  assert.equal((await readdir(join(scene.data, 'blobs'))).length, 2)
})

it('every request of a device, at every stage, leaves nothing when the daemon is stopped, but for uploads that can be resumed', async (t) => {
  const folder = await temporaryFolder(t)
  const { daemon, device, begin } = await setUp(t, '0', folder)
  const cells = await begin((stage) => stage !== 'all of it')
  assert.equal(await daemon.stop(), 0)
  for (const { name, client, rest } of cells) {
    client.send(rest).socket.resume()
    const answer = await client.readToEnd()
    assert.ok(answer.length < TEXT.length, name)
    assert.doesNotMatch(answer, /HTTP\/1\.1 2/, name)
  }
  const next = await startHeadless(t, { folder })
  const phone = createPhone(device, next.ready.gateway)
  assert.equal((await phone.document())['type'], 'Text')
  const { storage } = JSON.parse((await next.run('status', '--json')).stdout)
  assert.deepEqual([storage.stagedUploads, storage.stagedBytes], [1, 'it waits'.length])
  const records = await readdir(join(folder, 'data', 'staging'))
  const begun = records.filter((name) => name.endsWith('.partial')).length
  assert.ok(begun > 0, 'uploads that can be resumed are kept')
  assert.equal((await readdir(join(folder, 'data', 'blobs'))).length, 2 + begun)
})
