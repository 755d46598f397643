import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { Listeners } from '../../src/daemon/listeners.ts'
import {
  LOOK_MS,
  type RunningServer,
  type ServerOptions,
  startServer,
} from '../../src/http/server.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { readFrames } from '../support/event-reader.ts'
import { listen } from '../support/listen.ts'
import { type Machine, makeMachine, needsMachines, plug } from '../support/machines.ts'
import { Mailbox } from '../support/mailbox.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine } from './support/fitness.ts'
import { takeSnapshot } from './support/snapshot.ts'
import { failToStart, startHeadless, startPaired } from './support/subject.ts'

it('a port that is taken ends the start, is named, and leaves both daemons as they were', async (t) => {
  const { daemon: holder, device } = await startPaired(t)
  const fitness = await examine({ daemon: holder, device })
  const folder = await temporaryFolder(t)
  const other = await startHeadless(t, { folder })
  await other.stop()
  const files = takeSnapshot(folder)
  const { port } = new URL(holder.ready.gateway)
  for (const address of [`127.0.0.1:${port}`, `0.0.0.0:${port}`]) {
    for (const option of ['--listen', '--control']) {
      if (option === '--control' && address.startsWith('0')) continue
      const { code, stderr } = await failToStart(t, folder, { args: [option, address] })
      const remedy = `end that program, or choose another port with ${option}`
      const taken = 'something else listens there already'
      assert.equal(stderr, `Cannot listen on ${address}: ${taken}; ${remedy}\n`)
      assert.equal(code, 1)
      const { ['data/control.token']: _, ...left } = takeSnapshot(folder)
      const { ['data/control.token']: __, ...before } = files
      assert.deepEqual(left, before)
    }
  }
  await assertFit({ daemon: holder, device }, fitness)
})

/** Has the system abort a socket that listens, behind the back of its program. */
function abort(port: number): void {
  execFileSync('ss', ['-K', 'state', 'listening', `sport = :${port}`], { stdio: 'ignore' })
}

function listensOn(port: number): boolean {
  return String(execFileSync('ss', ['-Hltn', `sport = :${port}`])).trim() !== ''
}

/** Not every kernel is built with it. */
async function canAbort(t: TestContext): Promise<boolean> {
  const port = await listen(t, createServer())
  try {
    abort(port)
  } catch {
    // Not root.
  }
  const can = !listensOn(port)
  if (!can) t.skip('skipped: needs the right to abort sockets')
  return can
}

/** A server whose minutes pass when the test says so, and what it tells of its troubles. */
async function serve(t: TestContext, options: Partial<ServerOptions> = {}) {
  const clock = new FakeClock()
  const troubles = new Mailbox<string>()
  const server = await startServer({
    listener: (_request, response) => response.writeHead(204).end(),
    host: '127.0.0.1',
    port: 0,
    maxConnections: 10,
    maxConnectionsPerAddress: 10,
    clock,
    onTrouble: (reason = 'well again') => troubles.put(reason),
    ...options,
  })
  t.after(() => server.stop(0))
  return { server, troubles, clock }
}

async function assertServes({ port }: RunningServer): Promise<void> {
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 204)
}

describe('a listener that the system takes away', needs('ss'), () => {
  it('comes back on the same port, also one that was picked', async (t) => {
    if (!(await canAbort(t))) return
    let port = 0
    for (const _ of ['picked', 'fixed']) {
      const { server, troubles, clock } = await serve(t, { port })
      port = server.port
      abort(port)
      clock.advance(LOOK_MS)
      assert.equal(await troubles.next(), 'the socket was closed')
      clock.advance(1000)
      assert.equal(await troubles.next(), 'well again')
      await assertServes(server)
      await server.stop(0)
    }
  })

  it('says what is wrong while something else has its port, and comes back then', async (t) => {
    if (!(await canAbort(t))) return
    const { server, troubles, clock } = await serve(t)
    abort(server.port)
    clock.advance(LOOK_MS)
    assert.equal(await troubles.next(), 'the socket was closed')
    const squatter = createServer().listen(server.port, '127.0.0.1')
    await once(squatter, 'listening')
    clock.advance(1000)
    assert.match(await troubles.next(), /: something else listens there already$/)
    assert.match(server.trouble ?? '', /: something else listens there already$/)
    await once(squatter.close(), 'close')
    clock.advance(2000)
    assert.equal(await troubles.next(), 'well again')
    assert.equal(server.trouble, undefined)
    await assertServes(server)
  })

  it('is in the status and in the log of a daemon, once, until it is well', async (t) => {
    if (!(await canAbort(t))) return
    const logger = new CaptureLogger()
    const clock = new FakeClock()
    const told = new Mailbox<readonly unknown[]>()
    const onTrouble = (...news: readonly unknown[]) => told.put(news)
    const listeners = new Listeners(logger, { clock, onTrouble })
    t.after(() => listeners.stop(0))
    const limits = { maxConnections: 10, maxConnectionsPerAddress: 10 }
    const settings = { allowPublic: false, trustedProxies: [], ...limits }
    const listener: RequestListener = (_request, response) => response.writeHead(204).end()
    const wanted = [{ host: '127.0.0.1', port: 0 }]
    const [bound] = await listeners.startGateway(listener, wanted, settings)
    assert.ok(bound !== undefined, 'it listens')
    const gateway = () => listeners.status().find(({ name }) => name === 'gateway')
    assert.equal(gateway()?.error, undefined)
    abort(bound.port)
    clock.advance(LOOK_MS)
    assert.deepEqual(await told.next(), ['gateway', true])
    const squatter = createServer().listen(bound.port, '127.0.0.1')
    await once(squatter, 'listening')
    clock.advance(1000)
    assert.deepEqual(await told.next(), ['gateway', true])
    const taken = `Cannot listen on 127.0.0.1:${bound.port}: something else listens there already`
    assert.equal(gateway()?.error, taken)
    await once(squatter.close(), 'close')
    clock.advance(2000)
    assert.deepEqual(await told.next(), ['gateway', false])
    assert.equal(gateway()?.error, undefined)
    assert.deepEqual(
      logger.lines.map(({ level, message, fields: { reason } }) => [level, message, reason]),
      [
        ['warn', 'A listener has a problem', 'the socket was closed'],
        ['warn', 'A listener has a problem', taken],
        ['info', 'A listener recovered', undefined],
      ],
    )
  })
})

describe('a network that comes and goes', needsMachines(), () => {
  /** A daemon at 10.213.8.1, and a phone at 10.213.8.2 and 10.213.9.2. */
  async function startAtDesk(t: TestContext, listen: string) {
    const [desk, phone] = [await makeMachine(t, 'desk'), await makeMachine(t, 'phone')]
    await plug('lan0', [desk, '10.213.8.1/24'], [phone, '10.213.8.2/24'])
    await phone.ip('address', 'add', '10.213.9.2/24', 'dev', 'lan0')
    const options = { args: ['--listen', listen], wrapper: desk.inside }
    const { daemon, device } = await startPaired(t, options)
    const { port } = new URL(daemon.ready.gateway)
    const login = ['-u', `${device.username}:${device.password}`]
    return { desk, phone, daemon, device, port, login }
  }

  function follow(t: TestContext, phone: Machine, login: readonly string[], url: string) {
    const command = ['curl', '-sN', ...login, `${url}/api/sse/clipboard`]
    const [ip = '', ...rest] = [...phone.inside, ...command]
    const client = spawn(ip, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => client.kill('SIGKILL'))
    const frames = readFrames(client.stdout)
    return {
      client,
      /** The next event of this name; others are skipped. */
      next: async (name: string) => {
        for (;;) {
          const { value } = await frames.next()
          if (value === undefined) return undefined
          if ('event' in value && value.event === name) return value
        }
      },
    }
  }

  async function healthOf(phone: Machine, url: string): Promise<string> {
    return phone.curl('-o', '/dev/null', '-w', '%{http_code}', `${url}/healthz`)
  }

  for (const host of ['0.0.0.0', '10.213.8.1']) {
    it(`keeps streams open and is served again, bound to ${host}`, async (t) => {
      const { desk, phone, daemon, port, login } = await startAtDesk(t, `${host}:0`)
      const url = `http://10.213.8.1:${port}`
      const stream = follow(t, phone, login, url)
      assert.ok(await stream.next('hello'), 'the stream is open')
      assert.equal(await healthOf(phone, url), '204')

      // Nothing gets through, and then not even the address is there.
      await desk.ip('link', 'set', 'lan0', 'down')
      await desk.ip('address', 'flush', 'dev', 'lan0')
      assert.equal(
        await phone.run('cat', '/sys/class/net/lan0/carrier'),
        '0\n',
        'the cable is dead',
      )
      const { listeners } = JSON.parse((await daemon.run('status', '--json')).stdout)
      assert.equal(listeners.length, 2, 'the owner is answered')
      await desk.ip('address', 'add', '10.213.8.1/24', 'dev', 'lan0')
      await desk.ip('link', 'set', 'lan0', 'up')

      assert.equal(await healthOf(phone, url), '204')
      const body = '{"type":"Text","text":"back"}'
      const push = [...login, '-X', 'PUT', '--data', body, `${url}/Sync.json`]
      assert.match(await phone.curl(...push), /contentId/)
      assert.ok(await stream.next('update'), 'the stream lives')
      assert.equal(await daemon.stop(), 0)
    })
  }

  it('may give the machine another address: it is served there, and links name it', async (t) => {
    const { desk, phone, daemon, device, port } = await startAtDesk(t, '0.0.0.0:0')
    assert.equal(device.url, `http://10.213.8.1:${port}`)
    assert.equal(await healthOf(phone, device.url), '204')
    await desk.ip('address', 'flush', 'dev', 'lan0')
    await desk.ip('address', 'add', '10.213.9.1/24', 'dev', 'lan0')
    const url = `http://10.213.9.1:${port}`
    assert.equal(await healthOf(phone, url), '204')
    assert.equal((await daemon.pair('Other')).url, url)
  })
})
