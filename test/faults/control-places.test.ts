import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { it, type TestContext } from 'node:test'
import { spawn } from 'node:child_process'
import { readFrames } from '../support/event-reader.ts'
import { startHeadless } from './support/subject.ts'

/** Nobody, on most systems. */
const UID = 65_534

/** Without types and imports: another user may not be able to read the files of the tests. */
const PROGRAM = `
const { connect } = require('node:net')
const [port, count, bytes, isPersistent] = JSON.parse(process.argv[1])
let connected = 0
function come() {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(bytes, 'latin1')
    if (++connected === count) process.stdout.write('full')
  })
  // Who does not read does not hear either that it was hung up on.
  if (isPersistent) socket.resume()
  else socket.pause()
  socket.on('error', () => {})
  socket.on('close', () => isPersistent && come())
}
for (let index = 0; index < count; index++) come()
process.stdin.on('end', () => process.exit()).resume()
`

interface CrowdOptions {
  readonly port: number
  readonly count: number
  /** What each of them sends, to read nothing of what it is answered. */
  readonly bytes: string
  /** Whoever is hung up on comes back at once. */
  readonly isPersistent?: boolean
}

/** Resolves when all of them are connected. @returns Ends them. */
async function gather(
  t: TestContext,
  { port, count, bytes, isPersistent = false }: CrowdOptions,
): Promise<() => Promise<void>> {
  const argument = JSON.stringify([port, count, bytes, isPersistent])
  const other = process.getuid?.() === 0 ? { uid: UID, gid: UID } : {}
  const child = spawn(process.execPath, ['-e', PROGRAM, argument], {
    ...other,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }
}

/** As many as the control listener serves at a time. */
const PLACES = 64

/** What keeps a place, for a time or for good: the line of a request, and what follows its host. */
const WAYS: readonly (readonly [way: string, line: string, rest: string, times?: number])[] = [
  ['never end their headers', 'GET /', 'X-More: '],
  ['never end a body that nobody wants', 'POST /devices', 'Content-Length: 60000\r\n\r\n{'],
  ['never end a form', 'POST /enter', 'Content-Length: 900\r\n\r\nt'],
  ['never end a chunked body', 'POST /health', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhe'],
  ['wait for leave', 'POST /pause', 'Expect: 100-continue\r\nContent-Length: 9\r\n\r\n'],
  ['read nothing of the page', 'GET /panel.js', '\r\n', 16],
  ['pipeline what is refused', 'DELETE /pause', '\r\n', 16],
  ['keep their connection for later', 'GET /health', '\r\n'],
  ['say nothing', '', '', 0],
]

/** A daemon with a device, and a page of its panel. */
async function start(t: TestContext) {
  const daemon = await startHeadless(t, { devices: ['Lost phone'] })
  const { control } = daemon.ready
  const device = await daemon.pair('Lost phone')
  const { url } = JSON.parse((await daemon.run('panel', '--json')).stdout)
  const headers = { authorization: `Bearer ${new URL(url).hash.slice(1)}` }
  const outgoing = request(`${control}/events`, { headers, agent: false }).end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  assert.ok(response !== undefined, 'an answer')
  t.after(() => response.destroy())
  const frames = readFrames(response)
  const isGone = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await frames.next()
      assert.ok(done !== true, 'The stream of the panel has ended')
      if ('event' in value && Object(value.data['devices']).length === 0) return
    }
  }
  return { daemon, device, isGone, port: Number(new URL(control).port) }
}

async function revokeAmong({ daemon, device }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const status = JSON.parse((await daemon.run('status', '--json')).stdout)
  assert.equal(status.running, true)
  const devices = JSON.parse((await daemon.run('devices', '--json')).stdout)
  assert.equal(devices.length, 1)
  await daemon.run('revoke', device.id)
  assert.equal((await daemon.run('devices', '--json')).stdout.trim(), '[]')
}

const WHAT = 'strangers in every place of the control listener'

for (const [way, line, rest, times = 1] of WAYS) {
  it(`${WHAT} who ${way} do not keep the owner from anything`, async (t) => {
    const started = await start(t)
    const { port, isGone, daemon } = started
    const bytes = `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${rest}`.repeat(times)
    const end = await gather(t, { port, count: PLACES, bytes })
    await revokeAmong(started)
    await isGone()
    assert.equal((await fetch(daemon.ready.control)).status, 200)
    await end()
  })
}

it(`${WHAT} who come back at once whenever they are hung up on do not, either`, async (t) => {
  const started = await start(t)
  const { port, isGone } = started
  const end = await gather(t, { port, count: PLACES + 1, bytes: 'GET', isPersistent: true })
  await revokeAmong(started)
  await isGone()
  await end()
})
