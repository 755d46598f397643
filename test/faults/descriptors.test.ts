import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { openEvents } from '../support/event-reader.ts'
import type { RawResponse } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine } from './support/fitness.ts'
import { ownerOf } from '../support/owner.ts'
import { askOnce, connectTo, FORM_TYPE, formatPart, formatRequest } from './support/raw-device.ts'
import { stage, startHeadless, startPaired, take } from './support/subject.ts'
import { inject, needsTracing } from './support/trace.ts'
import { limitFiles, vitalsOf } from './support/vitals.ts'

type Subject = Awaited<ReturnType<typeof start>>

async function start(t: TestContext) {
  const paired = await startPaired(t)
  await paired.phone.pushFile('File', 'a', Buffer.from('before'))
  await stage(paired.phone, 'waits', 'it waits')
  return { ...paired, fitness: await examine(paired) }
}

const FORM_BODY = [
  formatPart('name="type"', 'File'),
  formatPart('name="hash"', 'ab'),
  formatPart('name="data"; filename="b"', 'lost'),
  '--b--\r\n',
].join('\r\n')

/** What needs a file, and what becomes of it when the system gives none. */
async function refusesFiles(
  ask: (line: string, body?: string, headers?: string) => Promise<RawResponse>,
): Promise<void> {
  for (const [line, body, headers] of [
    ['PUT /file/b', 'lost'],
    ['PUT /Sync.json', '{"type":"Text","text":"lost"}'],
    ['PUT /Sync.json', '{"type":"File","dataName":"waits","hasData":true}'],
    ['POST /api/history', FORM_BODY, FORM_TYPE],
    ['GET /file/a'],
  ] as const) {
    const { status, headers: answered, body: problem } = await ask(line, body, headers)
    assert.deepEqual([status, answered['retry-after']], [503, '1'], line)
    assert.equal(JSON.parse(problem).code, 'OVERLOADED', line)
  }
  // What needs no file is answered.
  assert.equal((await ask('GET /healthz')).status, 204)
  assert.equal(JSON.parse((await ask('GET /Sync.json')).body).dataName, 'a')
}

/** Requests of a device on one connection, which has logged in. */
async function askOn(daemon: DaemonProcess, device: PairedDevice) {
  const client = await connectTo(daemon)
  const ask = (line: string, body?: string, headers?: string): Promise<RawResponse> =>
    client.send(formatRequest(line, device, body, headers)).read()
  assert.equal((await ask('GET /Sync.json')).status, 200)
  return { client, ask }
}

/** They are saved a second after the first requests, which may be during a fault. */
const SIGHTINGS = /Cannot save when devices were seen/

/** After a fault: everything is as before, and works; nothing but `expected` was logged. */
async function recovers(
  { daemon, device, phone, fitness }: Subject,
  expected?: RegExp,
): Promise<void> {
  await assertFit({ daemon, device }, fitness)
  assert.equal(await take(phone, 'waits'), 'it waits')
  await phone.pushFile('File', 'b', Buffer.from('after'))
  assert.equal(String(await phone.download()), 'after')
  assert.equal(await daemon.stop(), 0)
  const lines = daemon.stderr().split('\n').slice(0, -1)
  assert.deepEqual(
    lines.filter((line) => !SIGHTINGS.test(line) && expected?.test(line) !== true),
    [],
  )
}

describe('a daemon that may not open another file', needs('prlimit'), () => {
  it('says that it is busy, and is as fit as before after that', async (t) => {
    const subject = await start(t)
    const { daemon, device } = subject
    const { client, ask } = await askOn(daemon, device)
    const control = await ownerOf(daemon)
    // It has more open already.
    limitFiles(daemon, 4)
    await refusesFiles(ask)
    limitFiles(daemon, 512)
    client.close()
    assert.equal((await control.devices()).length, 1)
    await recovers(subject)
  })

  it('does so also when it was used up by those who connect', async (t) => {
    const subject = await start(t)
    const { daemon, device } = subject
    const { client, ask } = await askOn(daemon, device)
    const reader = await openEvents(t, daemon.ready.gateway, subject.phone.authorization)
    await reader.next()

    limitFiles(daemon, 128)
    const crowd = await Promise.all(Array.from({ length: 200 }, () => connectTo(daemon)))
    // One that finds no room is closed unread; whoever is there already is served.
    const turnedAway = await Promise.race(crowd.slice(-50).map((one) => one.readToEnd()))
    assert.equal(turnedAway, '')
    await refusesFiles(ask)
    for (const one of crowd) one.close()
    // They have gone as soon as the daemon hears of it.
    const vitals = vitalsOf(daemon)
    while (vitals.descriptors() > 64) await setImmediate()

    // Who comes later is served, without anything being done to the daemon.
    await subject.phone.pushText('later')
    const frame = await reader.next()
    assert.ok(frame !== undefined && 'event' in frame, 'the stream lives')
    assert.equal(frame.event, 'update')
    reader.close()
    await subject.phone.pushFile('File', 'a', Buffer.from('before'))
    client.close()
    const { document } = await examine(subject)
    await recovers({ ...subject, fitness: { ...subject.fitness, document } })
  })
})

describe('a machine that has no file left', needsTracing, () => {
  it('has a daemon that says that it is busy', async (t) => {
    const subject = await start(t)
    const { daemon, device } = subject
    const { client, ask } = await askOn(daemon, device)
    const lost = await daemon.pair('Lost')
    const letGo = await inject(t, daemon.ready.pid, { calls: 'openat', fault: 'error=ENFILE' })
    await refusesFiles(ask)
    const owner = await ownerOf(daemon)
    const { unsaved = '' } = await owner.revoke(lost.id)
    assert.match(unsaved, /too many files are open; try again/)
    await letGo()
    client.close()
    await recovers(
      subject,
      /(?:Cannot save that a credential has|Saved which credentials have) ended/,
    )
  })
})

describe('a machine that has no thread left', needsTracing, () => {
  it('has a daemon that says that it is busy where it needs one', async (t) => {
    const folder = await temporaryFolder(t)
    const { daemon: first, device } = await startPaired(t, { folder })
    await first.stop()

    // It verified nothing yet, so it has no thread for that.
    const daemon = await startHeadless(t, { folder })
    const injection = { calls: 'clone,clone3', fault: 'error=EAGAIN' }
    const letGo = await inject(t, daemon.ready.pid, injection)
    const { status, headers, body } = await askOnce(daemon, 'GET /Sync.json', device)
    await letGo()
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    assert.equal(JSON.parse(body).code, 'OVERLOADED')
    assert.equal((await askOnce(daemon, 'GET /Sync.json', device)).status, 200)
    assert.equal(await daemon.stop(), 0)
    assert.equal(daemon.stderr(), '')
  })
})
