import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it, type TestContext } from 'node:test'
import { EventStreams } from '../../src/gateway/event-streams.ts'
import { deviceRoutes } from '../../src/gateway/routes.ts'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { basic, formatGet, type GuardedGateway, serveGuarded } from '../support/guarded-gateway.ts'
import { createPhone } from '../support/phone.ts'
import { RawClient, type RawResponse } from '../support/raw-http.ts'
import { connectTo } from './support/raw-device.ts'
import { startHeadless, startPaired } from './support/subject.ts'

const SPELLINGS = [
  '//Sync.json',
  '/Sync.json/',
  '/./Sync.json',
  '/%53ync.json',
  '/sync.json',
  '/no/such/path',
  '/%',
  '*',
  '/healthz/x',
  '//healthzz',
  '/healthz/../Sync.json',
  '/healthz%2f..%2fSync.json',
  '/healthz;/Sync.json',
  '/Sync.json#/healthz',
  '/Sync.json?/healthz',
  'http://box/Sync.json',
  'http://box/healthz/../',
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
    '',
    'Basic',
    'Basic !',
    'Bearer x',
    'Basic bm9jb2xvbg==',
    `Bearer ${at.password}`,
    at.password,
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

it('every request without valid credentials is 401, always in the same way, and changes nothing', async (t) => {
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

it('credentials that are right count from the header alone: not from a target, a query or a body', async (t) => {
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

it('credentials that are right count for their request alone, also among pipelined ones', async (t) => {
  const at = await serveGuarded(t)
  const client = await RawClient.connect(at.port)
  t.after(() => client.close())
  const right = formatGet(basic(at.device.username, at.password))
  client.send(right + formatGet() + right + formatGet(basic(at.device.username, 'wrong')) + right)
  const statuses = []
  for (let answer = 0; answer < 5; answer++) statuses.push((await client.read()).status)
  assert.deepEqual(statuses, [200, 401, 200, 401, 200])
})

it('credentials of an absurd size are refused without hashing them', async (t) => {
  const at = await serveGuarded(t)
  const sizes = { 1_000: 401, 12_000: 401, 1_000_000: 431 }
  for (const [size, status] of Object.entries(sizes)) {
    const huge = basic(at.device.username, 'x'.repeat(Number(size)))
    assert.equal((await at.ask(huge)).status, status, size)
  }
  assert.equal(at.runs.length, 0)
})

it('a known device is judged at each request: after a wrong password, a rotation, a revocation', async (t) => {
  const { daemon, device } = await startPaired(t)
  const other = await daemon.pair('Phone')
  const client = await connectTo(daemon)
  t.after(() => client.close())
  const ask = async (...fields: readonly string[]): Promise<number> =>
    (await client.send(formatGet(...fields)).read()).status
  const right = basic(device.username, device.password)
  const wrong = basic(device.username, 'wrong')

  const statuses: number[] = []
  // Another device on the same connection, as behind a proxy, keeps it open.
  const others = basic(other.username, other.password)
  for (const fields of [[right], [], [wrong], [right, right], [others], [right]]) {
    statuses.push(await ask(...fields))
  }
  assert.deepEqual(statuses, [200, 401, 401, 401, 200, 200])
  const { stdout } = await daemon.run('rotate', '--json', device.id)
  const rotated: PairedDevice = JSON.parse(stdout)
  const next = basic(rotated.username, rotated.password)
  assert.deepEqual([await ask(right), await ask(next)], [401, 200])
  await daemon.run('revoke', device.id)
  assert.deepEqual([await ask(right), await ask(next)], [401, 401])
  assert.equal(await ask(others), 200)
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

it('two hundred wrong passwords at once are refused at little cost, hold up nobody who is known, and lock nobody out', async (t) => {
  const daemon = await startHeadless(t)
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

/** Clients that guess passwords at full speed. */
interface Guessers {
  readonly count: number
  /** The address of this machine that each of them connects from. */
  readonly address?: (number: number) => string
  readonly username: (number: number) => string
  /** Sends each guess until it is judged, as a device that is told to come again does. */
  readonly isPersistent?: boolean
}

/** Guesses that go on until the test ends. */
interface Guessing {
  /** Verifications that were spent on guesses so far. */
  judged(): number
}

/**
 * Guesses on many connections, each with the next guess as soon as it has an answer.
 *
 * @returns Once a guess was turned away: from then on there are more than can be judged.
 */
async function keepGuessing(
  t: TestContext,
  daemon: DaemonProcess,
  { count, address, username, isPersistent = false }: Guessers,
): Promise<Guessing> {
  let isOver = false
  let judged = 0
  t.after(() => (isOver = true))
  const clients = await Promise.all(
    Array.from({ length: count }, (_, number) => connectTo(daemon, address?.(number))),
  )
  await new Promise<void>((resolve) => {
    const keepAsking = async (client: RawClient, number: number): Promise<void> => {
      for (let guess = 0; !isOver; ) {
        const credentials = basic(username(number), `guess ${number} ${guess}`)
        const { status } = await client.send(formatGet(credentials)).read()
        if (status === 401) judged += 1
        else resolve()
        if (status === 401 || !isPersistent) guess += 1
      }
      client.close()
    }
    // Requests that are under way when the daemon is killed end with it.
    clients.forEach((client, number) => void keepAsking(client, number).catch(() => client.close()))
  })
  return { judged: () => judged }
}

/** The status that a device is answered on a new connection. */
async function ask(
  daemon: DaemonProcess,
  { username, password }: PairedDevice,
  localAddress?: string,
): Promise<number> {
  const client = await connectTo(daemon, localAddress)
  const { status } = await client.send(formatGet(basic(username, password))).read()
  client.close()
  return status
}

/** As often as a device asks in ten seconds, if it comes again each second. */
const TRIES = 10

/** What a slow machine can verify in ten seconds. */
const VERIFICATIONS = 40

/** Asks until a device is let in, and says how often and how long that took. */
async function assertSoonIn(
  t: TestContext,
  guessing: Guessing,
  askOnce: () => Promise<number>,
): Promise<void> {
  const [start, before] = [performance.now(), guessing.judged()]
  const statuses: number[] = []
  while (statuses.at(-1) !== 200 && statuses.length < TRIES) statuses.push(await askOnce())
  const spent = guessing.judged() - before
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  t.diagnostic(`${statuses.join(', ')} in ${seconds} s, beside ${spent} guesses that were judged`)
  assert.equal(statuses.at(-1), 200, statuses.join())
  assert.equal(spent <= VERIFICATIONS, true, `${spent} guesses came first`)
}

const linuxOnly = {
  skip: process.platform === 'linux' ? false : 'needs more than one loopback address',
}

/** Made-up user names, one for each guesser. */
const madeUp = (number: number): string => `made_up_${number}`

/** The addresses of one network. */
const anyAddress = (number: number): string => `127.0.1.${1 + (number % 250)}`

const PHONE = '127.0.0.2'

const PROXY = '127.0.0.3'

it('guesses that never end do not lock out a device that is new, not even behind the same address', async (t) => {
  const { daemon, device } = await startPaired(t)
  const guessing = await keepGuessing(t, daemon, { count: 100, username: () => device.username })
  await assertSoonIn(t, guessing, () => ask(daemon, device))
})

it('guesses that never end do not lock it out either when each guess comes until it is judged', async (t) => {
  const { daemon, device } = await startPaired(t)
  const guessers = { count: 250, username: madeUp, isPersistent: true }
  const guessing = await keepGuessing(t, daemon, guessers)
  await assertSoonIn(t, guessing, () => ask(daemon, device))
})

it(
  'guesses that never end do not lock out a device at another address, for its own name',
  linuxOnly,
  async (t) => {
    const { daemon, device } = await startPaired(t)
    const guessing = await keepGuessing(t, daemon, { count: 100, username: () => device.username })
    await assertSoonIn(t, guessing, () => ask(daemon, device, PHONE))
  },
)

it(
  'guesses that never end do not lock out a new device when they come from 250 addresses',
  linuxOnly,
  async (t) => {
    const { daemon, device } = await startPaired(t)
    const guessers = { count: 250, address: anyAddress, username: madeUp, isPersistent: true }
    const guessing = await keepGuessing(t, daemon, guessers)
    await assertSoonIn(t, guessing, () => ask(daemon, device, PHONE))
  },
)

it(
  'guesses that never end do not lock it out behind a trusted proxy that does not tell for whom',
  linuxOnly,
  async (t) => {
    const { daemon, device } = await startPaired(t, { args: ['--trusted-proxies', PROXY] })
    const guessers = { count: 250, address: () => PROXY, username: madeUp, isPersistent: true }
    const guessing = await keepGuessing(t, daemon, guessers)
    await assertSoonIn(t, guessing, () => ask(daemon, device, PROXY))
  },
)

it(
  'guesses that never end do not lock a device out where it was seen last, for its own name',
  linuxOnly,
  async (t) => {
    const before = await startHeadless(t)
    const device = await before.pair('Phone')
    assert.equal(await ask(before, device, PHONE), 200)
    assert.equal(await before.stop(), 0)

    const daemon = await startHeadless(t, { folder: before.folder })
    const username = (): string => device.username
    const guessers = { count: 250, address: anyAddress, username, isPersistent: true }
    const guessing = await keepGuessing(t, daemon, guessers)
    await assertSoonIn(t, guessing, () => ask(daemon, device, PHONE))
  },
)
