import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { openEvents } from '../support/event-reader.ts'
import type { Phone } from '../support/phone.ts'
import type { RawClient, RawResponse } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine, type Fitness } from './support/fitness.ts'
import { ownerOf } from './support/owner.ts'
import { connectTo, formatHead } from './support/raw-device.ts'
import { startHeadless, startPaired } from './support/subject.ts'
import { inject, needsTracing } from './support/trace.ts'

interface Subject {
  readonly daemon: DaemonProcess
  readonly device: PairedDevice
  readonly phone: Phone
  readonly fitness: Fitness
}

async function start(t: TestContext): Promise<Subject> {
  const { daemon, device, phone } = await startPaired(t)
  await phone.pushFile('File', 'a', Buffer.from('before'))
  await phone.fetch('/file/waits', { method: 'PUT', body: 'it waits' })
  return { daemon, device, phone, fitness: await examine({ daemon, device }) }
}

/** Sets how many files a running daemon may have open. */
function limitFiles({ ready }: DaemonProcess, count: number): void {
  execFileSync('prlimit', ['--pid', `${ready.pid}`, `--nofile=${count}:`])
}

function countFiles({ ready }: DaemonProcess): number {
  return readdirSync(`/proc/${ready.pid}/fd`).length
}

const FORM = 'Content-Type: multipart/form-data; boundary=b\r\n'

const FORM_BODY = [
  '--b\r\nContent-Disposition: form-data; name="type"\r\n\r\nFile',
  '--b\r\nContent-Disposition: form-data; name="hash"\r\n\r\nab',
  '--b\r\nContent-Disposition: form-data; name="data"; filename="b"\r\n\r\nlost',
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
    ['POST /api/history', FORM_BODY, FORM],
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

/** Requests of a device on one connection. */
function askOn(client: RawClient, device: PairedDevice) {
  return (line: string, body = '', headers = ''): Promise<RawResponse> => {
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
    return client.send(formatHead(line, device, headers + length) + body).read()
  }
}

/** After a fault: everything is as before, and works; nothing but `expected` was logged. */
async function recovers(
  { daemon, device, phone, fitness }: Subject,
  expected?: RegExp,
): Promise<void> {
  await assertFit({ daemon, device }, fitness)
  const body = '{"type":"File","dataName":"waits","hasData":true}'
  assert.equal((await phone.fetch('/Sync.json', { method: 'PUT', body })).status, 200)
  assert.equal(String(await phone.download()), 'it waits')
  await phone.pushFile('File', 'b', Buffer.from('after'))
  assert.equal(String(await phone.download()), 'after')
  assert.equal(await daemon.stop(), 0)
  const lines = daemon
    .stderr()
    .split('\n')
    .filter((line) => line !== '')
  assert.deepEqual(
    lines.filter((line) => expected?.test(line) !== true),
    [],
  )
}

describe('a daemon that may not open another file', needs('prlimit'), () => {
  it('says that it is busy, and is as fit as before after that', async (t) => {
    const subject = await start(t)
    const { daemon, device } = subject
    const client = await connectTo(daemon)
    const control = await ownerOf(daemon)
    const ask = askOn(client, device)
    assert.equal((await ask('GET /Sync.json')).status, 200)
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
    const client = await connectTo(daemon)
    const ask = askOn(client, device)
    assert.equal((await ask('GET /Sync.json')).status, 200)
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
    while (countFiles(daemon) > 64) await setImmediate()

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
    const client = await connectTo(daemon)
    const ask = askOn(client, device)
    assert.equal((await ask('GET /Sync.json')).status, 200)
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
    const letGo = await inject(t, daemon.ready.pid, {
      calls: 'clone,clone3',
      fault: 'error=EAGAIN',
    })
    const client = await connectTo(daemon)
    const ask = askOn(client, device)
    const { status, headers, body } = await ask('GET /Sync.json')
    await letGo()
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    assert.equal(JSON.parse(body).code, 'OVERLOADED')
    assert.equal((await ask('GET /Sync.json')).status, 200)
    client.close()
    assert.equal(await daemon.stop(), 0)
    assert.equal(daemon.stderr(), '')
  })
})
