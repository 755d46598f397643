import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { type EventReader, openEvents } from '../support/event-reader.ts'
import { createPhone } from '../support/phone.ts'
import type { RawClient } from '../support/raw-http.ts'
import { CHEAP_HOLDS, formatRequest, type GreedyDevice, HOLD_ARGS } from './support/cheap-holds.ts'
import { OPERATIONS, type OperationTimes, useOnce } from './support/other-device.ts'
import { connectTo, FORM_TYPE, formatPart } from './support/raw-device.ts'
import { startHeadless } from './support/subject.ts'
import { needsDisk } from './support/vitals.ts'
import { MIB } from '../../src/core/limits.ts'

const FILE_PART = formatPart('name="data"; filename="a"', '')

/** A daemon, a device that will take what it can, and another one. */
async function setUp(t: TestContext) {
  const daemon = await startHeadless(t, { args: HOLD_ARGS, devices: ['Greedy', 'Other'] })
  const { gateway } = daemon.ready
  const greedy = greedyDevice(t, daemon, await daemon.pair('Greedy'))
  const phone = await daemon.phone('Other')
  return { daemon, greedy, phone, other: { gateway, authorization: phone.authorization } }
}

function greedyDevice(t: TestContext, daemon: DaemonProcess, device: PairedDevice): GreedyDevice {
  return {
    authorization: createPhone(device, daemon.ready.gateway).authorization,
    connect: async () => {
      const client = await connectTo(daemon)
      t.after(() => client.close())
      return client
    },
  }
}

/** The content ids of which the stream tells, up to this one. */
async function updatesUntil(events: EventReader, contentId: string): Promise<readonly string[]> {
  const seen: string[] = []
  for (;;) {
    const frame = await events.next()
    assert.ok(frame !== undefined, 'the stream has ended')
    if (!('event' in frame) || frame.event !== 'update') continue
    seen.push(String(frame.data['content_id']))
    if (seen.at(-1) === contentId) return seen
  }
}

function ratios(quiet: OperationTimes, busy: OperationTimes): string {
  return OPERATIONS.map((name) => `${name} ${(busy[name] / quiet[name]).toFixed(1)}`).join(', ')
}

describe('a device that takes all it can', needsDisk(1), () => {
  it('keeps another one from nothing, whatever it holds, and all of it at once', async (t) => {
    const { daemon, greedy, phone, other } = await setUp(t)
    const events = await openEvents(t, other.gateway, other.authorization)
    // Whoever serves for the first time compiles.
    await useOnce(other, 'warm')
    const quiet = await useOnce(other, 'quiet')
    for (const [index, { name, begin }] of CHEAP_HOLDS.entries()) {
      await t.test(name, async (held) => {
        await begin(greedy)
        const busy = await useOnce(other, `held-${index}`)
        const { contentId } = await phone.document()
        await updatesUntil(events, String(contentId))
        held.diagnostic(`times the normal: ${ratios(quiet, busy)}`)
      })
    }
    assert.equal(daemon.stderr(), '')
  })

  it('hears that there is no room, when its upload stands still and another one needs room', async (t) => {
    const { daemon, greedy, phone, other } = await setUp(t)
    const blobs = join(daemon.folder, 'data', 'blobs')
    const written = (): number =>
      readdirSync(blobs).reduce((sum, name) => sum + statSync(join(blobs, name)).size, 0)
    const uploads: RawClient[] = []
    for (const [line, type, part] of [
      ['PUT /file/still', '', ''],
      ['POST /api/history', FORM_TYPE, FILE_PART],
    ] as const) {
      const head = formatRequest(greedy, line, `${type}Content-Length: ${31 * MIB}`)
      const client = await greedy.connect()
      const already = written()
      client.send(head + part + 'x'.repeat(30 * MIB))
      while (written() < already + 29 * MIB) await phone.document()
      uploads.push(client)
    }
    await useOnce(other, 'first')
    // The newest gave way; a form hears of it when its next bytes come.
    const [upload, form] = uploads
    assert.equal((await form?.send('x').read())?.status, 507)
    // Whoever would have more than the older one has to leave it alone.
    const own = await greedy.connect()
    const more = `Content-Length: ${50 * MIB}\r\nExpect: 100-continue`
    assert.equal((await own.send(formatRequest(other, 'PUT /file/more', more)).read()).status, 507)
    await useOnce(other, 'second')
    assert.ok(written() >= 29 * MIB, 'the older one is there')
    upload?.close()
    assert.equal(daemon.stderr(), '')
  })

  it('has one push in front of that of another, whatever number it has sent before', async (t) => {
    const { daemon, greedy, other } = await setUp(t)
    const clients: RawClient[] = []
    for (let index = 0; index < 100; index++) {
      const client = await greedy.connect()
      await client.send(formatRequest(greedy, 'GET /')).read()
      clients.push(client)
    }
    const own = await greedy.connect()
    await own.send(formatRequest(other, 'GET /')).read()

    // All of them are there before the daemon sees the first.
    process.kill(daemon.ready.pid, 'SIGSTOP')
    const send = async (client: RawClient, device: { authorization: string }, text: string) => {
      const document = JSON.stringify({ type: 'Text', text })
      const request = formatRequest(device, 'PUT /Sync.json', document.length) + document
      await new Promise((resolve) => client.socket.write(request, resolve))
    }
    for (const [index, client] of clients.entries()) await send(client, greedy, `greedy ${index}`)
    await send(own, other, 'other')
    process.kill(daemon.ready.pid, 'SIGCONT')

    const answered: number[] = []
    const answers = [...clients, own].map(async (client, index) => {
      const { status } = await client.read()
      answered.push(index)
      return status
    })
    assert.deepEqual([...new Set(await Promise.all(answers))], [200])
    const before = answered.indexOf(clients.length)
    t.diagnostic(`${before} of 100 came first`)
    // One would be enough but for how the system tells of what has come.
    assert.ok(before <= 20, `${before} of 100 came first`)
  })
})
