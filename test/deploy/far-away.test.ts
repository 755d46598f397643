import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { X509Certificate, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pasteUntil, xclipCopy } from '../desktop/x11/support/xclip.ts'
import { buildProgram } from '../faults/support/built-program.ts'
import { SITE } from '../proxies/support/certificate.ts'
import { daemonCommand, startDaemonProcess } from '../support/daemon-process.ts'
import { readFrames, type Frame } from '../support/event-reader.ts'
import { makeMachine, needsMachines } from '../support/machines.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import {
  locked,
  PHONE_ADDRESS,
  startBesideNginx,
  startComposed,
  type FarAway,
  type StartFarAway,
} from './support/far-away.ts'

const URL_THERE = `https://${SITE}`

const program = await buildProgram()

/** How a desktop at home comes to trust a certificate that no known authority vouches for. */
type Trust = 'authority' | 'fingerprint'

/** A desktop with an X server and a daemon, which joins the node through the proxy. */
async function startHome(t: TestContext, { home, node, certificate }: FarAway, trust: Trust) {
  const xvfb = await Xvfb.start(t)
  const { display } = xvfb
  const authority = { NODE_EXTRA_CA_CERTS: certificate.certPath }
  const daemon = await startDaemonProcess(t, {
    env: { DISPLAY: display, ...(trust === 'authority' ? authority : {}) },
    wrapper: home.inside,
    main: program.main,
  })
  assert.equal(daemon.ready.clipboard, 'x11', daemon.stderr())
  const file = join(daemon.folder, 'link')
  await writeFile(file, (await node.run('pair', '--kind', 'peer')).stdout, { mode: 0o600 })
  const joining = ['join', '--link-file', file]
  if (trust === 'fingerprint') {
    await assert.rejects(daemon.run(...joining), /certificate/)
    const { fingerprint256 } = new X509Certificate(certificate.cert)
    joining.push('--tls-fingerprint', fingerprint256)
  }
  await daemon.run(...joining)
  return { daemon, display }
}

/** curl, as a device of the node. */
async function startPhone(t: TestContext, { phone, node, certificate }: FarAway) {
  const device = await node.pair('Phone')
  assert.equal(device.url, URL_THERE)
  const folder = await temporaryFolder(t)
  const own = ['--cacert', certificate.certPath]
  const login = ['--user', `${device.username}:${device.password}`]
  const curl = (path: string, ...args: string[]): Promise<string> =>
    phone.curl(...own, ...login, '--fail-with-body', ...args, `${URL_THERE}${path}`)
  const put = async (path: string, body: string | Uint8Array): Promise<string> => {
    const file = join(folder, 'body')
    await writeFile(file, body)
    return curl(path, '--upload-file', file)
  }
  return {
    device,
    folder,
    curl,
    pushText: async (text: string) => put('/Sync.json', JSON.stringify({ type: 'Text', text })),
    pushFile: async (dataName: string, bytes: Uint8Array) => {
      await put(`/file/${encodeURIComponent(dataName)}`, bytes)
      await put('/Sync.json', JSON.stringify({ type: 'File', dataName, hasData: true }))
    },
    document: async (): Promise<Record<string, unknown>> => JSON.parse(await curl('/Sync.json')),
    listen: () => {
      const [program = '', ...args] = [...phone.inside, 'curl', '-sSN', ...own, ...login]
      const listening = spawn(program, [...args, `${URL_THERE}/api/sse/clipboard`], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      t.after(() => listening.kill('SIGKILL'))
      return readFrames(listening.stdout)
    },
  }
}

/** The next event but for pings. */
async function nextEvent(frames: AsyncGenerator<Frame, void>) {
  for (;;) {
    const { value } = await frames.next()
    if (value === undefined) throw new Error('The stream has ended')
    if ('event' in value) return value
  }
}

async function testTheWorld(t: TestContext, start: StartFarAway, trust: Trust): Promise<void> {
  const site = await start(t, program.main)
  const { node, phone: where, certificate } = site
  const home = await startHome(t, site, trust)
  const phone = await startPhone(t, site)

  const trusting = ['--cacert', certificate.certPath]
  const health = await where.curl('-i', ...trusting, `${URL_THERE}/healthz`)
  assert.match(health, /^HTTP\/\S+ 204/)
  assert.match(health, /^cache-control: no-store\r$/im)
  assert.match(await phone.curl('/api/version'), /^"clipgate \d/)
  const frames = phone.listen()
  assert.equal((await nextEvent(frames)).event, 'hello')

  const { contentId } = JSON.parse(await phone.pushText('from far away'))
  // The event is sent right after that answer, and surely before another one.
  await site.inside.machine.curl(`${site.inside.gateway}/healthz`)
  // Nothing can follow the event that would push it out of a buffer: the node stands still.
  process.kill(node.ready.pid, 'SIGSTOP')
  const { event, data } = await nextEvent(frames)
  process.kill(node.ready.pid, 'SIGCONT')
  assert.deepEqual([event, data['content_id']], ['update', contentId])
  await pasteUntil(home.display, 'UTF8_STRING', 'from far away')

  const photo = randomBytes(2_000_000)
  await phone.pushFile('photo é.bin', photo)
  assert.equal((await nextEvent(frames)).event, 'update')
  const received = join(home.daemon.folder, 'received', 'photo é.bin')
  await pasteUntil(home.display, 'text/uri-list', `${pathToFileURL(received)}\r\n`)
  assert.deepEqual(await readFile(received), photo)

  await xclipCopy(t, home.display, 'from home', 'UTF8_STRING')
  assert.equal((await nextEvent(frames)).event, 'update')
  assert.equal((await phone.document())['text'], 'from home')
  const file = join(home.daemon.folder, 'notes.bin')
  const notes = randomBytes(3_000_000)
  await writeFile(file, notes)
  await xclipCopy(t, home.display, `${pathToFileURL(file)}\r\n`, 'text/uri-list')
  assert.equal((await nextEvent(frames)).event, 'update')
  const { dataName, size } = await phone.document()
  assert.deepEqual([dataName, size], ['notes.bin', notes.length])
  const parts = ['0-999999', '1000000-'].map(async (range) => {
    const path = join(phone.folder, range)
    const status = ['--output', path, '--write-out', '%{http_code}']
    assert.equal(await phone.curl('/file/notes.bin', '--range', range, ...status), '206')
    return readFile(path)
  })
  assert.deepEqual(Buffer.concat(await Promise.all(parts)), notes)

  const devices: readonly Record<string, unknown>[] = JSON.parse(
    (await node.run('devices', '--json')).stdout,
  )
  const listed = devices.find(({ id }) => id === phone.device.id)
  assert.equal(listed?.['lastSeenAddress'], PHONE_ADDRESS, 'the word of the proxy counts')
  const [peer] = JSON.parse((await home.daemon.run('peers', '--json')).stdout)
  assert.deepEqual([peer.url, peer.state, peer.error], [URL_THERE, 'connected', null])

  await testOnlyWay(site, phone.device)
  await testDoctor(t, site)
  assert.doesNotMatch(node.stderr() + home.daemon.stderr(), / (warn|error) /)
}

/** Exit codes of curl: refused or no way there, and no answer at all. */
const NOBODY_THERE: readonly unknown[] = [7, 28]

/** The same request that is answered beside the node is not answered elsewhere. */
async function testOnlyWay(
  { inside, phone, elsewhere }: FarAway,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  const login = ['--user', `${username}:${password}`]
  const beside = await inside.machine.curl(...login, `${inside.gateway}/Sync.json`)
  assert.equal(JSON.parse(beside).dataName, 'notes.bin', 'it is our node, with our item')
  for (const url of elsewhere) {
    const asked = phone.curl('--connect-timeout', '2', `${url}/healthz`)
    await assert.rejects(asked, ({ code }) => NOBODY_THERE.includes(code), url)
  }
}

/** As somebody on the phone's side runs it, with the link of a device of its own. */
async function testDoctor(t: TestContext, { node, phone, certificate }: FarAway): Promise<void> {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'link')
  await writeFile(file, (await node.pair('Doctor')).link, { mode: 0o600 })
  const { run } = daemonCommand(folder, {
    wrapper: phone.inside,
    main: program.main,
    env: { NODE_EXTRA_CA_CERTS: certificate.certPath },
  })
  const { stdout } = await run('doctor', '--json', '--through', URL_THERE, '--link-file', file)
  const findings: readonly Record<string, unknown>[] = JSON.parse(stdout)
  assert.deepEqual(
    findings.filter(({ ok }) => ok !== true),
    [],
  )
  const checked = new Set(findings.map(({ check }) => check))
  for (const check of ['tls', 'plain-http', 'authorization', 'range', 'body-limit', 'events']) {
    assert.ok(checked.has(check), `it looked at ${check}`)
  }
}

const tools = needsMachines('setpriv')
it(
  'the stand-in for a container can write to the data directory and nowhere else, and has no rights',
  tools,
  async (t) => {
    const machine = await makeMachine(t, 'node')
    const folder = await temporaryFolder(t)
    const data = join(folder, 'data')
    await mkdir(data)
    const inside = (...command: string[]): Promise<string> =>
      machine.run(...locked(data), ...command)
    await inside('touch', join(data, 'new'))
    await assert.rejects(inside('touch', join(folder, 'new')), /Read-only file system/)
    assert.match(await inside('cat', '/proc/self/status'), /^CapEff:\t0+$/m)
  },
)

const TOGETHER = { concurrency: true }

describe('a phone far away, a desktop at home, and nothing between them but', TOGETHER, () => {
  const caddy = needsMachines('caddy', 'openssl', 'Xvfb', 'xclip', 'setpriv')
  it('a node and Caddy as deploy/compose.yaml arranges them', caddy, (t) =>
    testTheWorld(t, startComposed, 'authority'),
  )

  const nginx = needsMachines('nginx', 'openssl', 'Xvfb', 'xclip')
  it('a node and nginx on one server, as docs/guides/server.md arranges them', nginx, (t) =>
    testTheWorld(t, startBesideNginx, 'fingerprint'),
  )
})
