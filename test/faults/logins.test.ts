import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { EventStreams } from '../../src/gateway/event-streams.ts'
import { deviceRoutes } from '../../src/gateway/routes.ts'
import {
  startDaemonProcess,
  type DaemonProcess,
  type PairedDevice,
} from '../support/daemon-process.ts'
import { basic, formatGet, serveGuarded, type GuardedGateway } from '../support/guarded-gateway.ts'
import { createPhone } from '../support/phone.ts'
import { RawClient, type RawResponse } from '../support/raw-http.ts'
import { connectTo } from './support/raw-device.ts'

const HEADLESS = { args: ['--headless'] }

const SPELLINGS = [
  '//Sync.json', '/Sync.json/', '/./Sync.json', '/%53ync.json', '/sync.json', '/no/such/path', '/%',
  '*', '/healthz/x', '//healthzz', '/healthz/../Sync.json', '/healthz%2f..%2fSync.json',
  '/healthz;/Sync.json', '/Sync.json#/healthz', '/Sync.json?/healthz',
  'http://box/Sync.json', 'http://box/healthz/../',
]

/** Everything that the tables of the gateway have for devices, as request lines. */
function everyRoute(at: GuardedGateway): readonly string[] {
  return deviceRoutes(at, new EventStreams(at), { version: '' })
    .map(({ method, pattern }) => `${method} ${pattern.replaceAll(/\{[^}]+\}/g, 'Text-0')}`)
    .flatMap((line) => (line.startsWith('GET ') ? [line, line.replace('GET', 'HEAD')] : [line]))
}

/** Whatever might be taken for credentials, but is none; whole header lines. */
async function everyLie(at: GuardedGateway): Promise<readonly string[][]> {
  const { username } = at.device
  const right = basic(username, at.password)
  const malformed = [
    '', 'Basic', 'Basic !', 'Bearer x', 'Basic bm9jb2xvbg==', `Bearer ${at.password}`, at.password,
  ]
  const revoked = await at.devices.add({ kind: 'phone' })
  await at.devices.revoke(revoked.device.id)
  return [
    [],
    ...malformed.map((value) => [`Authorization: ${value}`]),
    [right.replace('Basic ', 'Basic')],
    [right, right],
    [right, basic('nobody_1', 'wrong')],
    [basic(username, '')],
    [basic(username, 'wrong')],
    [basic('nobody_1', at.password)],
    [basic(at.device.id, at.password)],
    [basic(username, at.device.passwordHash ?? '')],
    [basic(username, `${at.password} `)],
    [basic(username.toUpperCase(), at.password)],
    [basic(revoked.device.username, revoked.password)],
    [basic(username, 'x'.repeat(257))],
    [basic(username, 'x'.repeat(8000))],
    [right.replace('Authorization', 'Proxy-Authorization')],
    [right.replace('Authorization', 'X-Authorization')],
    [`Cookie: ${right}`],
    [`X-Forwarded-User: ${username}`, `X-Remote-User: ${username}`, 'X-Forwarded-For: 127.0.0.1'],
    ['X-Original-URL: /healthz', 'X-Rewrite-URL: /healthz', 'X-Forwarded-Prefix: /healthz'],
    ['X-HTTP-Method-Override: OPTIONS', 'Origin: null', 'Sec-Fetch-Site: cross-site'],
  ]
}

/** All that tells one answer from another; a HEAD has no body. */
function looksOf({ status, headers: { date: _, ...headers }, body }: RawResponse): string {
  return JSON.stringify([status, headers, body === '' ? 'none' : body])
}

describe('every request without valid credentials', () => {
  it('is 401, always in the same way, and changes nothing', async (t) => {
    const at = await serveGuarded(t)
    const lines = [...everyRoute(at), ...SPELLINGS.map((target) => `GET ${target}`)]
    const lies = await everyLie(at)
    const looks = new Set<string>()
    const before = at.devices.list()
    for (const line of lines) {
      const method = line.split(' ')[0]
      const requests = lies.map((fields) =>
        at.send([`${line} HTTP/1.1`, 'Host: box', ...fields, '', ''].join('\r\n'), method),
      )
      const answers = await at.answered(Promise.all(requests))
      for (const [index, answer] of answers.entries()) {
        assert.equal(answer.status, 401, `${line} with ${lies[index]}`)
        if (method !== 'HEAD') looks.add(looksOf(answer))
      }
    }
    assert.equal(looks.size, 1, [...looks].join('\n'))
    assert.match([...looks].join(), /Basic realm=\\"clipgate\\", charset=\\"UTF-8\\"/)
    assert.deepEqual(at.devices.list(), before, 'nobody was seen')
    assert.equal(at.latest.current, undefined)
    assert.deepEqual(at.logger.lines, [])
    assert.equal(at.runs.length, 8, 'one for each pair that is well-formed')
    assert.equal((await at.ask(basic(at.device.username, at.password))).status, 200)
  })
})

describe('credentials that are right', () => {
  it('count from the header alone: not from a target, a query or a body', async (t) => {
    const at = await serveGuarded(t)
    const { username } = at.device
    const login = `${username}:${at.password}`
    const { authorization, password } = at
    const query = new URLSearchParams({ authorization, user: username, pwd: password })
    for (const target of [
      `http://${login}@box/Sync.json`,
      `/Sync.json?${query}`,
      `//${login}@box/Sync.json`,
    ]) {
      const { status } = await at.send(`GET ${target} HTTP/1.1\r\nHost: box\r\n\r\n`)
      assert.equal(status, 401, target)
    }
    const head = 'PUT /file/a HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n'
    const trailer = basic(username, at.password)
    assert.equal((await at.send(`${head}0\r\n${trailer}\r\n\r\n`)).status, 401)
    assert.equal(at.runs.length, 0)
  })

  it('count for their request alone, also among pipelined ones', async (t) => {
    const at = await serveGuarded(t)
    const client = await RawClient.connect(at.port)
    t.after(() => client.close())
    const right = formatGet(basic(at.device.username, at.password))
    client.send(right + formatGet() + right + formatGet(basic(at.device.username, 'wrong')) + right)
    const statuses = []
    for (let answer = 0; answer < 5; answer++) statuses.push((await client.read()).status)
    assert.deepEqual(statuses, [200, 401, 200, 401, 200])
  })
})

describe('credentials of an absurd size', () => {
  it('are refused without hashing them', async (t) => {
    const at = await serveGuarded(t)
    const sizes = { 1_000: 401, 12_000: 401, 1_000_000: 431 }
    for (const [size, status] of Object.entries(sizes)) {
      const huge = basic(at.device.username, 'x'.repeat(Number(size)))
      assert.equal((await at.ask(huge)).status, status, size)
    }
    assert.equal(at.runs.length, 0)
  })
})

describe('a known device', () => {
  it('is judged at each request: after a wrong password, a rotation, a revocation', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const device = await daemon.pair('Phone')
    const client = await connectTo(daemon)
    t.after(() => client.close())
    const ask = async (...fields: readonly string[]): Promise<number> =>
      (await client.send(formatGet(...fields)).read()).status
    const right = basic(device.username, device.password)
    const wrong = basic(device.username, 'wrong')

    const statuses: number[] = []
    for (const fields of [[right], [], [wrong], [right, right], [right]]) {
      statuses.push(await ask(...fields))
    }
    assert.deepEqual(statuses, [200, 401, 401, 401, 200])
    const { stdout } = await daemon.run('rotate', '--json', device.id)
    const rotated: PairedDevice = JSON.parse(stdout)
    const next = basic(rotated.username, rotated.password)
    assert.deepEqual([await ask(right), await ask(next)], [401, 200])
    await daemon.run('revoke', device.id)
    assert.deepEqual([await ask(right), await ask(next)], [401, 401])
  })
})

/** The most memory that a daemon had since it started, in MiB; 0 where nobody says. */
function peakMemory({ ready }: DaemonProcess): number {
  if (process.platform !== 'linux') return 0
  const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${ready.pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

/** Guesses, all at once. */
function guess(daemon: DaemonProcess, username: string, count: number): Promise<number>[] {
  return Array.from({ length: count }, async (_, number) => {
    const phone = createPhone({ username, password: `wrong ${number}` }, daemon.ready.gateway)
    return (await phone.fetch('/Sync.json')).status
  })
}

describe('two hundred wrong passwords at once', () => {
  it('are refused at little cost, hold up nobody who is known, and lock nobody out', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const { gateway } = daemon.ready
    const device = await daemon.pair('Phone')
    const other = await daemon.pair('Other')
    const third = await daemon.pair('Third')
    const phone = createPhone(device, gateway)
    await phone.pushText('hello')
    const before = peakMemory(daemon)

    let answered = 0
    const flood = guess(daemon, device.username, 200)
    for (const answer of flood) void answer.then(() => answered++)
    // More than can be answered by then: each takes a run of Argon2id.
    for (let round = 0; round < 20; round++) {
      assert.equal((await phone.document())['text'], 'hello')
      assert.equal((await fetch(`${gateway}/healthz`)).status, 204)
      assert.equal((await fetch(`${gateway}/Sync.json`)).status, 401)
    }
    assert.equal(answered < flood.length, true, 'the flood is not over')
    const statuses = new Set(await Promise.all(flood))
    assert.deepEqual([...statuses].sort(), [401, 503])
    // Not from memory: these have never been here.
    assert.equal((await createPhone(other, gateway).fetch('/')).status, 200)
    await Promise.all(guess(daemon, 'nobody_1', 32))
    assert.equal((await createPhone(third, gateway).fetch('/')).status, 200)

    // Two hundred runs at once would take 12.5 GiB.
    const grown = peakMemory(daemon) - before
    assert.equal(grown < 192, true, `${grown} MiB more`)
    assert.equal(daemon.stderr(), '')
  })
})

/** Guesses on many connections, each with the next guess as soon as it has an answer. */
async function keepGuessing(
  t: TestContext,
  daemon: DaemonProcess,
  username: string,
): Promise<void> {
  let isOver = false
  t.after(() => (isOver = true))
  const keepAsking = async (client: RawClient, number: number): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      await client.send(formatGet(basic(username, `guess ${number} ${round}`))).read()
    }
    client.close()
  }
  const clients = await Promise.all(Array.from({ length: 100 }, () => connectTo(daemon)))
  // What is under way when the daemon is killed ends with it.
  clients.forEach((client, number) => void keepAsking(client, number).catch(() => client.close()))
  // The last one is refused, or waits, only when everybody before it has come.
  await clients[0]?.readUntil('HTTP/1.1 ')
}

/** The status that a device is answered from another address of this machine. */
function askFrom(
  localAddress: string,
  gateway: string,
  device: PairedDevice,
): Promise<number | undefined> {
  const { authorization } = createPhone(device, gateway)
  return new Promise((resolve, reject) => {
    get(gateway, { localAddress, headers: { authorization } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
}

const linuxOnly = { skip: process.platform === 'linux' ? false : 'needs a second loopback address' }

describe('guesses that never end', () => {
  it('do not lock out a device that is new, not even behind the same address', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const device = await daemon.pair('Phone')
    await keepGuessing(t, daemon, device.username)
    const phone = createPhone(device, daemon.ready.gateway)
    const statuses: number[] = []
    while (statuses.at(-1) !== 200 && statuses.length < 5) {
      statuses.push((await phone.fetch('/')).status)
    }
    assert.equal(statuses.at(-1), 200, String(statuses))
  })

  it('take nothing from a device at another address', linuxOnly, async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const device = await daemon.pair('Phone')
    await keepGuessing(t, daemon, device.username)
    assert.equal(await askFrom('127.0.0.2', daemon.ready.gateway, device), 200)
  })
})
