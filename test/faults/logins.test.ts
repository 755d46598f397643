import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { DeviceStreams } from '../../src/gateway/device-streams.ts'
import { deviceRoutes } from '../../src/gateway/routes.ts'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { basic, formatGet, type GuardedGateway, serveGuarded } from '../support/guarded-gateway.ts'
import { onlyAtNight } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import type { RawClient, RawResponse } from '../support/raw-http.ts'
import { connectTo } from './support/raw-device.ts'
import { startHeadless } from './support/subject.ts'
import { needsProc, vitalsOf } from './support/vitals.ts'

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
  return deviceRoutes(at, new DeviceStreams(at), { version: '' })
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

// Protocol: the same for every cause
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
  const told = new Set(at.logger.lines.map(({ level, message }) => `${level}: ${message}`))
  assert.deepEqual([...told], ['debug: A login was refused'])
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

/** Guesses, all at once. */
function guess(daemon: DaemonProcess, username: string, count: number): Promise<number>[] {
  return Array.from({ length: count }, async (_, number) => {
    const phone = createPhone({ username, password: `wrong ${number}` }, daemon.ready.gateway)
    return (await phone.fetch('/Sync.json')).status
  })
}

it('eighty wrong passwords at once are refused at little cost, hold up nobody who is known, and lock nobody out', async (t) => {
  const daemon = await startHeadless(t)
  const { gateway } = daemon.ready
  const device = await daemon.pair('Phone')
  const other = await daemon.pair('Other')
  const third = await daemon.pair('Third')
  const phone = createPhone(device, gateway)
  await phone.pushText('hello')
  // Nobody says it elsewhere.
  const peakMemory = needsProc.skip === false ? vitalsOf(daemon).peak : () => 0
  const before = peakMemory()

  let answered = 0
  const flood = guess(daemon, device.username, 80)
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

  // Eighty runs at once would take 5 GiB.
  const grown = peakMemory() - before
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

/** The addresses of one network. */
const anyAddress = (number: number): string => `127.0.1.${1 + (number % 250)}`

const [PHONE, PROXY] = ['127.0.0.2', '127.0.0.3']

interface Siege extends Omit<Guessers, 'username'> {
  readonly what: string
  /** More arguments of the daemon. */
  readonly args?: readonly string[]
  /** Whether they guess for the device, and not for made-up user names. */
  readonly isForItsName?: boolean
  /** Where the device is. */
  readonly from?: string
  /** Another one by day has as many guesses, and less to tell the device by. */
  readonly isForTheNight?: boolean
  /** Whether the device has been there before the daemon started. */
  readonly hasBeenSeen?: boolean
}

const SIEGES: readonly Siege[] = [
  {
    what: 'a device that is new, not even behind the same address',
    count: 100,
    isForItsName: true,
  },
  {
    what: 'a device that is new when each guess comes until it is judged',
    count: 250,
    isForTheNight: true,
    isPersistent: true,
  },
  {
    what: 'a device at another address, for its own name',
    count: 100,
    isForTheNight: true,
    isForItsName: true,
    from: PHONE,
  },
  {
    what: 'a new device when they come from 250 addresses',
    count: 250,
    address: anyAddress,
    isPersistent: true,
    from: PHONE,
  },
  {
    what: 'a device that is new behind a trusted proxy that does not tell for whom',
    count: 250,
    args: ['--trusted-proxies', PROXY],
    address: () => PROXY,
    isPersistent: true,
    from: PROXY,
  },
  {
    what: 'a device where it was seen last, for its own name',
    count: 250,
    address: anyAddress,
    isForItsName: true,
    isPersistent: true,
    from: PHONE,
    hasBeenSeen: true,
  },
]
for (const siege of SIEGES) {
  const { what, args = [], isForItsName, isForTheNight, from, hasBeenSeen, ...guessers } = siege
  const isPossible = from === undefined || process.platform === 'linux'
  const needed = isPossible ? false : 'skipped: needs more than one loopback address'
  const skip = isForTheNight ? needed || onlyAtNight().skip : needed
  it(`guesses that never end do not lock out ${what}`, { skip }, async (t) => {
    let daemon = await startHeadless(t, { args })
    const device = await daemon.pair('Phone')
    if (hasBeenSeen) {
      assert.equal(await ask(daemon, device, from), 200)
      assert.equal(await daemon.stop(), 0)
      daemon = await startHeadless(t, { folder: daemon.folder })
    }
    const username = (number: number) => (isForItsName ? device.username : `made_up_${number}`)
    const guessing = await keepGuessing(t, daemon, { ...guessers, username })
    await assertSoonIn(t, guessing, () => ask(daemon, device, from))
  })
}
