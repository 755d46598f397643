import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { DeviceStreams } from '../../src/gateway/device-streams.ts'
import { deviceRoutes } from '../../src/gateway/routes.ts'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'
import { byNight } from '../support/night.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import { secure, twinOf } from '../support/secure-twin.ts'
import { mutate } from './support/mutate.ts'
import { createRandom, type Random } from './support/random.ts'
import { authorizationOf } from './support/raw-device.ts'
import { isOwnPath, takeSnapshot } from './support/snapshot.ts'
import { startHeadless } from './support/subject.ts'
import { needsProc, rememberVitals } from './support/vitals.ts'
import { type Endpoint, makeRequest } from './support/wire-requests.ts'

/** `make fuzz` asks for ten thousand of everything, and gets twice as many here. */
const FUZZ_RUNS = Number(process.env['FUZZ_RUNS'] ?? byNight(1000, { byDay: 100 }))
const RUNS = 2 * FUZZ_RUNS

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_131)

/** Many, as some are lingered on, or wait for a verification. */
const CONNECTIONS = 200

/** What the heap and the workers may take more than after the first few hundred requests. */
const MAX_GROWTH_MIB = 96

/** Everything that the gateway serves, and something that it does not. */
async function allEndpoints(t: TestContext): Promise<readonly Endpoint[]> {
  const at = await serveGateway(t)
  const rows = deviceRoutes(at, new DeviceStreams(at), { version: '' })
  const heads = rows
    .filter(({ method }) => method === 'GET')
    .map((row) => ({ ...row, method: 'HEAD' }))
  const others = [
    ['GET', '/healthz'],
    ['POST', '/nowhere'],
    ['CONNECT', 'box:80'],
    ['TRACE', '/'],
  ] as const
  return [
    ...rows,
    ...heads,
    ...others.map(([method, pattern]) => ({ method, pattern, maxBody: 0 })),
  ]
}

/** Whether a request of this kind can change what is current, or waits to. */
function isPush({ method, pattern }: Endpoint): boolean {
  return method === 'PUT' || (method === 'POST' && pattern === '/api/history')
}

/** Credentials that let nobody in; most of them are refused without a delay. */
function strangeLogin(random: Random): string {
  if (random.chance(0.02))
    return `Authorization: Basic ${btoa('mobile_00000000:not the password')}\r\n`
  return random.pick([
    '',
    '',
    '',
    'Authorization: Basic\r\n',
    'Authorization: Basic !\r\n',
    'Authorization: Bearer x\r\n',
  ])
}

/** A request, or a few: damaged on the wire, in their bodies, in both, or not at all. */
function makeCase(
  random: Random,
  endpoints: readonly Endpoint[],
  loginTo: (endpoint: Endpoint) => string,
): string {
  let text = ''
  do {
    const endpoint = random.pick(endpoints)
    const login = loginTo(endpoint)
    const isDamaged = random.chance(0.5)
    const damage = (body: string): string => (isDamaged ? mutate(random, body) : body)
    const request = makeRequest(random, endpoint, { login, damage })
    text += random.chance(0.5) ? request : damageAround(random, request, login)
  } while (random.chance(0.2))
  return text
}

/** Leaves the credentials alone, mostly: each spelling of them would have to be verified. */
function damageAround(random: Random, request: string, login: string): string {
  const at = request.indexOf(login)
  const end = at + login.length
  if (login === '' || random.chance(0.005)) return mutate(random, request)
  return random.chance(0.5)
    ? mutate(random, request.slice(0, at)) + request.slice(at)
    : request.slice(0, end) + mutate(random, request.slice(end))
}

/** Sends bytes in some pieces, ends in some way, and resolves with all that was answered. */
function deliver(random: Random, gateway: string, text: string): Promise<string> {
  const { hostname, port } = new URL(gateway)
  const isReset = random.chance(0.1)
  const cut = random.chance(0.3) ? random.below(text.length + 1) : text.length
  return new Promise((resolve, reject) => {
    const to = twinOf(Number(port))
    const raw: Socket = connect({ host: hostname, port: to.port, noDelay: true })
    const socket = to.isSecure ? secure(raw) : raw
    let answers = ''
    socket.setEncoding('latin1').on('data', (piece: string) => (answers += piece))
    // A reset is a way for a server to close; one that is not there any more is the end.
    socket.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNREFUSED') reject(error)
    })
    socket.on('close', () => resolve(answers))
    socket.write(text.slice(0, cut), 'latin1', () => {
      if (isReset) socket.resetAndDestroy()
      else socket.end(text.slice(cut), 'latin1')
    })
  })
}

interface Campaign {
  readonly gateway: string
  readonly seed: number
  readonly runs: number
  readonly endpoints: readonly Endpoint[]
  readonly login: (random: Random, endpoint: Endpoint) => string
}

/** Delivers cases over several connections at a time, and counts the first answers. */
async function deliverAll({ gateway, seed, runs, endpoints, login }: Campaign) {
  const counts = new Map<string, number>()
  const underWay = new Map<number, string>()
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < runs; index = next++) {
      // Each case is what it is, whatever becomes of those beside it.
      const random = createRandom(seed * 1_000_003 + index)
      const text = makeCase(random, endpoints, (endpoint) => login(random, endpoint))
      underWay.set(index, text)
      const answers = await deliver(random, gateway, text)
      underWay.delete(index)
      const what = `case ${index} of seed ${seed}: ${JSON.stringify(text.slice(0, 2000))}`
      assert.match(answers, /^(?:$|HTTP\/1\.1 [1-5]\d\d )/, what)
      assert.doesNotMatch(answers, /^HTTP\/1\.1 500 /m, what)
      const status = answers.slice(9, 12)
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  }
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
  } catch (error) {
    throw new Error(`Seed ${seed}; under way: ${JSON.stringify([...underWay])}`, { cause: error })
  }
  return Object.fromEntries([...counts].sort())
}

/** A push of each kind arrives. */
async function works(phone: Phone): Promise<void> {
  await phone.pushText('a text')
  assert.equal((await phone.document())['text'], 'a text')
  await phone.pushFile('File', 'a file', Buffer.from('its bytes'))
  assert.equal(String(await phone.download()), 'its bytes')
}

describe('the gateway of a daemon', needsProc, () => {
  it(`stands ${RUNS} requests that were valid before they were damaged`, async (t) => {
    t.diagnostic(`seed ${SEED}`)
    const daemon = await startHeadless(t, { devices: ['Reader', 'Writer'] })
    const { gateway } = daemon.ready
    const [reader, writer] = [await daemon.pair('Reader'), await daemon.pair('Writer')]
    const [phone, other] = [createPhone(reader, gateway), createPhone(writer, gateway)]
    const endpoints = await allEndpoints(t)
    await works(other)
    await works(phone)
    const readerLogin = authorizationOf(reader)
    const reading: Campaign = {
      gateway,
      seed: SEED,
      runs: Math.ceil(RUNS / 2),
      endpoints,
      // Who reads has changed nothing afterwards, whatever becomes of what is read.
      login: (random, endpoint) =>
        isPush(endpoint) || random.chance(0.3) ? strangeLogin(random) : readerLogin,
    }
    await deliverAll({ ...reading, seed: SEED + 1, runs: 300 })

    const { vitals, before, hasGrownBy } = rememberVitals(t, daemon)
    const files = takeSnapshot(daemon.folder)
    const document = await phone.document()

    t.diagnostic(`reading: ${JSON.stringify(await deliverAll(reading))}`)
    await vitals.settled(before)
    assert.deepEqual(await phone.document(), document)
    assert.equal(String(await phone.download()), 'its bytes')
    const isLazy = (path: string): boolean => !path.endsWith('sightings.json')
    const same = (all: typeof files) => Object.entries(all).filter(([path]) => isLazy(path))
    assert.deepEqual(same(takeSnapshot(daemon.folder)), same(files))

    const writerLogin = authorizationOf(writer)
    const writing = { ...reading, runs: RUNS - reading.runs, login: () => writerLogin }
    t.diagnostic(`writing: ${JSON.stringify(await deliverAll(writing))}`)
    await vitals.settled({ descriptors: before.descriptors })
    hasGrownBy(MAX_GROWTH_MIB)

    // Whatever was pushed: it is one whole item.
    const { hasData, hash, size } = await phone.document()
    const bytes =
      hasData === true
        ? await phone.download()
        : Buffer.from(String((await phone.document())['text']))
    assert.deepEqual([bytes.length, sha256(bytes)], [size, hash || undefined])
    await works(phone)
    await works(other)
    const paths = readdirSync(join(daemon.folder, 'data'), { recursive: true }).map(String)
    assert.deepEqual(
      paths.filter((path) => !isOwnPath(path)),
      [],
    )
    assert.ok(vitals.blobs().length <= 17, vitals.blobs().join())
    assert.equal(daemon.stderr(), '')
    assert.equal(await daemon.stop(), 0)
  })
})
