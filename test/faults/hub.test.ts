import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { DaemonProcess } from '../support/daemon-process.ts'
import { serveGuarded } from '../support/guarded-gateway.ts'
import { HANDSHAKE, HUB_FAREWELL, HubClient, hubHead } from '../support/hub-client.ts'
import { addCheapDevices } from '../support/many-devices.ts'
import { byNight } from '../support/night.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { RawClient } from '../support/raw-http.ts'
import { clientFrame } from '../support/websocket-frames.ts'
import { mutate } from './support/mutate.ts'
import { createRandom } from './support/random.ts'
import { startHeadless, startPaired } from './support/subject.ts'
import { needsProc, rememberVitals } from './support/vitals.ts'
import { MIB } from '../../src/core/limits.ts'

const EMPTY = Buffer.alloc(0)

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0x0, 0x1, 0x2, 0x8, 0x9, 0xa]

/** Where the hub of a daemon is, for the device of a phone. */
function hubOf(
  { ready }: Pick<DaemonProcess, 'ready'>,
  { authorization }: Pick<Phone, 'authorization'>,
) {
  return { port: Number(new URL(ready.gateway).port), authorization }
}

/** A daemon with devices whose passwords cost next to nothing, and a phone to push with. */
async function startWithDevices(t: TestContext, count: number, args: readonly string[] = []) {
  const folder = await temporaryFolder(t)
  const first = await startHeadless(t, { folder, devices: ['Phone'] })
  const device = await first.pair('Phone')
  await first.stop()
  const devices = await addCheapDevices(join(folder, 'data', 'devices.json'), count)
  const daemon = await startHeadless(t, { folder, args })
  return { daemon, devices, phone: createPhone(device, daemon.ready.gateway) }
}

/** What comes next but for pings, which are in between on a machine that is busy. */
async function hearNews(client: HubClient): Promise<readonly unknown[]> {
  const heard = await client.hear()
  return JSON.stringify(heard) === '[{"type":6}]' ? hearNews(client) : heard
}

/** The text of the item that a change is about. */
async function hearText(client: HubClient): Promise<unknown> {
  const [, change] = await hearNews(client)
  // The tests of the gateway show the whole of it.
  return (change as { arguments: [{ text: string }] }).arguments[0].text
}

/** Shows that the daemon has ended this connection on purpose. */
async function assertEnded(client: HubClient): Promise<void> {
  assert.deepEqual(await hearNews(client), [HUB_FAREWELL])
  assert.equal(await client.end(), 1001)
}

it('a thousand connections to the hub all hear of each push, once and in order; and end when the daemon does', async (t) => {
  const { daemon, devices, phone } = await startWithDevices(t, 500, ['--grace', '5m'])
  const clients: HubClient[] = []
  for (const device of devices) {
    for (let time = 0; time < 2; time++)
      clients.push(await HubClient.open(t, hubOf(daemon, device)))
  }
  for (const text of ['one', 'two', 'three']) await phone.pushText(text)
  for (const client of clients) {
    for (const text of ['one', 'two', 'three']) assert.equal(await hearText(client), text)
  }

  const [victim] = devices
  await daemon.run('revoke', victim?.username ?? '')
  for (const client of clients.slice(0, 2)) await assertEnded(client)
  const listed: readonly { streams: number }[] = JSON.parse(
    (await daemon.run('devices', '--json')).stdout,
  )
  assert.equal(
    listed.reduce((sum, { streams }) => sum + streams, 0),
    998,
  )

  assert.equal(await daemon.stop(), 0)
  for (const client of clients.slice(2)) await assertEnded(client)
  assert.equal(daemon.stderr(), '')
})

it('a client of the hub comes back after the daemon was killed, with a new token', async (t) => {
  const folder = await temporaryFolder(t)
  const { daemon, device, phone } = await startPaired(t, { folder })
  const negotiated = await phone.fetch('/SyncClipboardHub/negotiate', { method: 'POST' })
  const query = `?id=${JSON.parse(await negotiated.text()).connectionId}`
  const client = await HubClient.open(t, hubOf(daemon, phone), query)
  await daemon.kill()
  assert.equal(await client.raw.readToEnd(), '')

  const next = await startHeadless(t, { folder })
  const back = createPhone(device, next.ready.gateway)
  const hub = hubOf(next, back)
  const { status } = await HubClient.refused(t, hub.port, hubHead(hub.authorization, query))
  assert.equal(status, 404)
  const again = await HubClient.open(t, hub)
  await back.pushText('back')
  assert.equal(await hearText(again), 'back')
})

it('a client of the hub that does not read holds up neither a revocation nor the end of the daemon', async (t) => {
  const { daemon, devices, phone } = await startWithDevices(t, 2, ['--grace', '5m'])
  const clients: HubClient[] = []
  for (const device of devices) {
    const client = await HubClient.open(t, hubOf(daemon, device))
    client.raw.socket.pause()
    clients.push(client)
  }
  await phone.pushText('x'.repeat(12 * MIB))
  await daemon.run('revoke', devices[0]?.id ?? '')
  assert.equal(await daemon.stop(), 0)
  for (const { raw } of clients) {
    raw.socket.resume()
    assert.ok((await raw.readToEnd()).length < 12 * MIB)
  }
})

/** A message in three fragments that is to go on. */
function endlessly(payload: string): readonly Uint8Array[] {
  return [TEXT, CONTINUATION, CONTINUATION].map((opcode) =>
    clientFrame(opcode, Buffer.from(payload), { isFinal: false }),
  )
}

describe('a client of the hub that sends pieces for ever', () => {
  for (const [what, pieces] of [
    ['bytes of a header', [[0x81], [0xfe], [0x40]]],
    ['bytes of a frame', [[0x81, 0xfe, 0x40, 0, 1, 2, 3, 4], [5], [6]]],
    ['fragments', endlessly('{')],
    ['empty fragments', endlessly('')],
  ] as const) {
    it(`is taken for silent, and let go: ${what}`, async (t) => {
      const served = await serveGuarded(t)
      const { clock, phone, gateway, device } = served
      const client = await HubClient.open(t, served)
      for (const piece of pieces) {
        client.send(Uint8Array.from(piece))
        // By the time that somebody else is answered they have come.
        await phone.document()
        assert.equal(gateway.countStreams(device.id), 1)
        clock.advance(12_500)
      }
      assert.equal(gateway.countStreams(device.id), 0)
      for (let pings = 0; pings < 2; pings++) assert.deepEqual(await client.hear(), [{ type: 6 }])
      await assertEnded(client)
    })
  }
})

/** `make fuzz` asks for ten thousand. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 500)

it('damaged frames and records on a connection to the hub end it at worst', async (t) => {
  const served = await serveGuarded(t)
  const random = createRandom(20_260_131)
  const records = [
    '{"type":1,"invocationId":"7","target":"Nope","arguments":[{"a":[null,"\ud800"]}]}\u001e',
    '{"type":6}\u001e{"type":3,"invocationId":"7","result":1e9}\u001e',
    '{"type":7,"error":"x","allowReconnect":true}\u001e',
  ]
  const frames = [PING, PONG, CLOSE, BINARY].map((opcode) => clientFrame(opcode, EMPTY))
  for (let run = 0; run < RUNS; run++) {
    const { raw } = await HubClient.open(t, served)
    const record = random.pick(records)
    const payload = Buffer.from(random.chance(0.5) ? mutate(random, record) : record)
    const pieces = [
      clientFrame(TEXT, payload.subarray(0, 4), { isFinal: false }),
      random.pick(frames),
      clientFrame(CONTINUATION, payload.subarray(4)),
      random.pick(frames),
    ]
    const bytes = Buffer.concat(pieces).toString('latin1')
    raw.send(random.chance(0.5) ? mutate(random, bytes) : bytes).socket.end()
    await raw.readToEnd()
    // All of these together are more than a device may send at once.
    served.clock.advance(1000)
  }
  assert.equal(served.gateway.countStreams(served.device.id), 0)
  const client = await HubClient.open(t, served)
  await served.phone.pushText('after')
  assert.equal(await hearText(client), 'after')
})

describe('a flood on connections to the hub', needsProc, () => {
  const fragment = (payload: string): Buffer =>
    clientFrame(CONTINUATION, Buffer.from(payload), { isFinal: false })
  for (const [what, piece] of [
    ['pings', clientFrame(PING, Buffer.alloc(125))],
    ['pongs', clientFrame(PONG, EMPTY)],
    ['records', clientFrame(TEXT, Buffer.from('{"type":6}\u001e'.repeat(2900)))],
    ['calls', clientFrame(TEXT, Buffer.from('{"type":1,"invocationId":"1"}\u001e'))],
    ['empty fragments', fragment('')],
    ['small fragments', fragment('x')],
    ['long fragments', fragment('x'.repeat(32 * 1024))],
  ] as const) {
    it(`stays in the network, takes no memory, and keeps nobody waiting: ${what}`, async (t) => {
      const daemon = await startHeadless(t, { devices: ['Greedy', 'Other'] })
      const device = await daemon.pair('Greedy')
      const greedy = createPhone(device, daemon.ready.gateway)
      const phone = await daemon.phone('Other')
      const { hasGrownBy } = rememberVitals(t, daemon)
      const block = Buffer.concat(Array<Uint8Array>(Math.ceil(MIB / piece.length)).fill(piece))
      const clients: HubClient[] = []
      while (clients.length < 4) clients.push(await HubClient.open(t, hubOf(daemon, greedy)))
      const sockets = clients.map(({ raw }) => raw.socket.removeAllListeners('data').resume())
      for (const client of clients) {
        if (what.endsWith('fragments')) client.send(clientFrame(TEXT, EMPTY, { isFinal: false }))
        // More than all buffers between the two take.
        for (let sent = 0; sent < 24; sent++) client.raw.socket.write(block)
      }
      for (const text of ['one', 'two', 'three']) await phone.pushText(text)
      await daemon.run('status')
      hasGrownBy(128)
      // Long fragments are too much at once, and the others are not read.
      if (what !== 'long fragments') {
        for (const socket of sockets) assert.ok(socket.writableLength > 0 || socket.destroyed)
      }
      await daemon.run('revoke', device.id)
      assert.equal(daemon.stderr(), '')
    })
  }
})

it('a hundred frames of a gigabyte that are announced take no memory', needsProc, async (t) => {
  const { daemon, phone } = await startPaired(t)
  const { vitals, before, hasGrownBy } = rememberVitals(t, daemon)
  for (let time = 0; time < 100; time++) {
    const client = await HubClient.open(t, hubOf(daemon, phone))
    client.send(Uint8Array.of(0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0))
    assert.equal(await client.end(), 1009)
  }
  hasGrownBy(128)
  await vitals.settled({ descriptors: before.descriptors })
})

it('connections to the hub that break off at any byte leave nothing', needsProc, async (t) => {
  const { daemon, phone } = await startPaired(t)
  const { vitals, before } = rememberVitals(t, daemon)
  const { port, authorization } = hubOf(daemon, phone)
  const record = clientFrame(TEXT, Buffer.from(`${HANDSHAKE}\u001e`))
  const whole = hubHead(authorization) + record.toString('latin1')
  // By day at every third one.
  const step = byNight(1, { byDay: 3 })
  for (let cut = 1; cut <= whole.length; cut += step) {
    const { socket } = (await RawClient.connect(port)).send(whole.slice(0, cut))
    if (cut % 2 === 0) socket.end()
    else socket.resetAndDestroy()
  }
  await vitals.settled({ descriptors: before.descriptors })
  const [{ streams }] = JSON.parse((await daemon.run('devices', '--json')).stdout)
  assert.equal(streams, 0)
  // Those that come may be told from those that go only later.
  assert.match(daemon.stderr(), /^([^\n]* Too many programs use one device at once[^\n]*\n)?$/)
})

it('ten thousand negotiations keep nothing', needsProc, async (t) => {
  const { daemon, phone } = await startPaired(t)
  const { port, authorization } = hubOf(daemon, phone)
  const client = await RawClient.open(t, port)
  const line = 'POST /SyncClipboardHub/negotiate?negotiateVersion=1 HTTP/1.1'
  const request = `${line}\r\nHost: box\r\nAuthorization: ${authorization}\r\n\r\n`
  const negotiate = async (times: number): Promise<void> => {
    for (let round = 0; round < times / 10; round++) {
      client.send(request.repeat(10))
      for (let answer = 0; answer < 10; answer++) assert.equal((await client.read()).status, 200)
    }
  }
  await negotiate(1000)
  const { hasGrownBy } = rememberVitals(t, daemon)
  await negotiate(10_000)
  hasGrownBy(24)
})

it(
  'long changes that nobody reads take little memory, however many wait for them',
  needsProc,
  async (t) => {
    const { daemon, devices, phone } = await startWithDevices(t, 16)
    const { hasGrownBy } = rememberVitals(t, daemon)
    for (const device of devices) {
      const client = await HubClient.open(t, hubOf(daemon, device))
      client.raw.socket.pause()
      await phone.pushText(device.id + 'x'.repeat(15 * MIB))
    }
    hasGrownBy(128)
  },
)
