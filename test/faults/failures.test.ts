import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { DaemonOptions } from '../support/daemon-process.ts'
import { openEvents } from '../support/event-reader.ts'
import { readObject } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine } from './support/fitness.ts'
import { ownerOf } from '../support/owner.ts'
import { announce, connectTo, formatHead } from './support/raw-device.ts'
import { failToStart, startPaired } from './support/subject.ts'
import { inject, needsTracing } from './support/trace.ts'

const FAILING = fileURLToPath(new URL('./support/failing.js', import.meta.url))

/** In what is copied and in what fails; never in what is logged. */
const SECRET = 'hunter2-do-not-log'

/** More than sockets buffer. */
const ITEM_BYTES: number = 24 * 1024 * 1024

type Subject = Awaited<ReturnType<typeof start>>

async function start(t: TestContext, options: DaemonOptions = {}) {
  const paired = await startPaired(t, options)
  await paired.phone.pushFile('File', SECRET, Buffer.alloc(ITEM_BYTES, SECRET))
  return { ...paired, fitness: await examine(paired) }
}

/** The lines of the log, once there are `count` of them. */
async function linesOf({ daemon }: Subject, count: number): Promise<readonly string[]> {
  for (;;) {
    const lines = daemon.stderr().split('\n').slice(0, -1)
    if (lines.length >= count) return lines
    await fetch(`${daemon.ready.gateway}/healthz`)
  }
}

function idOf(line: string): string | undefined {
  return / id="([0-9a-f]{12})"/.exec(line)?.[1]
}

/** Nothing that anybody would want to keep for himself is in the log. */
function assertDiscreet({ daemon, device }: Subject): void {
  for (const secret of [SECRET, device.password, device.username, device.link, 'Basic ']) {
    assert.ok(!daemon.stderr().includes(secret), daemon.stderr())
  }
}

describe('a request that fails unexpectedly', needsTracing, () => {
  it('is a bare 500, with an id that is in the log once', async (t) => {
    const subject = await start(t)
    const { daemon, device, phone, fitness } = subject
    const path = `/file/${SECRET}`
    const ids: unknown[] = []
    const fails = async (answer: Promise<Response>): Promise<void> => {
      const response = await answer
      assert.equal(response.status, 500)
      const { id, ...problem } = await readObject(response)
      assert.deepEqual(problem, { title: 'Unexpected failure', status: 500, code: 'INTERNAL' })
      ids.push(id)
    }
    const injection = { calls: 'openat,statfs', fault: 'error=ENODEV' }
    const letGo = await inject(t, daemon.ready.pid, injection)
    await fails(phone.fetch(path))
    const text = `{"type":"Text","text":"${SECRET}"}`
    await fails(phone.fetch('/Sync.json', { method: 'PUT', body: text }))
    await fails(phone.fetch('/file/b', { method: 'PUT', body: SECRET }))
    const owner = await ownerOf(daemon)
    await assert.rejects(owner.status(), /Unexpected failure/)
    await letGo()

    const lines = await linesOf(subject, 4)
    assert.equal(lines.length, 4)
    assert.deepEqual(lines.slice(0, 3).map(idOf), ids)
    assert.equal(new Set(lines.map(idOf)).size, 4)
    for (const line of lines) {
      assert.match(line, /error A (control )?request failed .* reason="ENODEV \(\w+\)" at="/)
    }
    assertDiscreet(subject)
    await assertFit({ daemon, device }, fitness)
  })

  it('after its answer has begun, breaks off visibly', async (t) => {
    const subject = await start(t)
    const { daemon, device, fitness } = subject
    const client = await connectTo(daemon)
    client.send(formatHead(`GET /file/${SECRET}`, device))
    await client.readUntil('\r\n\r\n')
    client.socket.pause()
    const letGo = await inject(t, daemon.ready.pid, { calls: 'pread64', fault: 'error=EIO' })
    client.socket.resume()
    const received = await client.readToEnd()
    assert.ok(received.length < ITEM_BYTES, 'it is seen to be cut off')
    await letGo()
    const lines = await linesOf(subject, 1)
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /error A request failed id="[0-9a-f]{12}" reason="EIO \(read\)"/)
    assertDiscreet(subject)
    await assertFit({ daemon, device }, fitness)
  })
})

describe('a failure that nobody waits for', () => {
  it('is logged once, with an id and without its subject, and the daemon lives', async (t) => {
    const folder = await temporaryFolder(t)
    const failure = join(folder, 'failure')
    const env = { NODE_OPTIONS: `--import ${FAILING}`, CLIPGATE_TEST_FAILURE: failure }
    const subject = await start(t, { folder, env })
    const { daemon, device, phone, fitness } = subject
    const reader = await openEvents(t, daemon.ready.gateway, phone.authorization)
    await reader.next()
    const upload = await announce(daemon, device, 'PUT /file/b', 8)

    const expected = [
      ['exception', /origin="uncaughtException" reason="SyntaxError" at="JSON\.parse /],
      ['rejection', /origin="unhandledRejection" reason="TypeError" at=".*failing\.js:\d+/],
      ['no error', /origin="uncaughtException" reason="a thrown string"$/],
    ] as const
    for (const [index, [kind, fields]] of expected.entries()) {
      await writeFile(failure, `${kind}\n${SECRET}`)
      daemon.child.kill('SIGUSR2')
      const lines = await linesOf(subject, index + 1)
      assert.equal(lines.length, index + 1)
      const line = lines[index] ?? ''
      assert.match(line, /error Something failed that nobody handles id="[0-9a-f]{12}" /)
      assert.match(line, fields)
    }
    assertDiscreet(subject)

    assert.equal((await upload.send('complete').read()).status, 200)
    upload.close()
    await phone.pushText('after')
    const frame = await reader.next()
    assert.ok(frame !== undefined && 'event' in frame, 'the stream lives')
    assert.equal(frame.event, 'update')
    reader.close()
    await phone.pushFile('File', SECRET, Buffer.alloc(ITEM_BYTES, SECRET))
    const { document } = await examine(subject)
    await assertFit({ daemon, device }, { ...fitness, document })
    assert.equal(await daemon.stop(), 0)
    assert.equal((await linesOf(subject, 3)).length, 3)
  })

  it('before it is ready ends the start, and says so', async (t) => {
    const preload = encodeURIComponent(`process.on('newListener', (name) => {
      if (name === 'SIGHUP') setImmediate(() => { throw new Error('early') })
    })`)
    const env = { NODE_OPTIONS: `--import data:text/javascript,${preload}` }
    const { code, stderr } = await failToStart(t, await temporaryFolder(t), { env })
    assert.match(stderr, /early/)
    assert.equal(code, 1)
  })
})
