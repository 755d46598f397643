import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { route, type Call } from '../../src/http/call.ts'
import { BODY_IDLE_MS, readBytes, StreamedBody } from '../../src/http/read-body.ts'
import { text } from '../../src/http/reply.ts'
import type { DaemonOptions } from '../support/daemon-process.ts'
import { type EventReader, openEvents } from '../support/event-reader.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { head, type Owner, serveKernel } from '../support/http-kernel.ts'
import { assertFit, examine } from './support/fitness.ts'
import { announce, connectTo, formatHead } from './support/raw-device.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Paired, stage, startPaired, take } from './support/subject.ts'

const DAY_MS = 86_400_000

const CLOCK = fileURLToPath(new URL('./support/wall-clock.js', import.meta.url))

/** A daemon with an item. */
async function start(t: TestContext, options: DaemonOptions = {}): Promise<Paired> {
  const paired = await startPaired(t, options)
  await paired.phone.pushFile('File', 'a', Buffer.alloc(2_000_000, 'kept'))
  return paired
}

/** Reads until a stream tells of an update. */
async function untilUpdate(reader: EventReader): Promise<void> {
  for (;;) {
    const frame = await reader.next()
    assert.ok(frame !== undefined, 'the stream lives')
    if ('event' in frame && frame.event === 'update') return
  }
}

describe('a daemon that is stopped and goes on, as on a machine that sleeps', () => {
  it('has its streams, its uploads, its downloads, and those who came meanwhile', async (t) => {
    const { daemon, device, phone } = await start(t)
    const fitness = await examine({ daemon, device })
    const reader = await openEvents(t, daemon.ready.gateway, phone.authorization)
    const upload = await announce(daemon, device, 'PUT /file/b', 8)
    upload.send('half')
    const halfHead = await connectTo(daemon)
    halfHead.send('GET /healthz HTTP/1.1\r\nHost')
    const download = await connectTo(daemon)
    download.send(formatHead('GET /file/a', device))
    await download.readUntil('kept')

    for (const round of [1, 2]) {
      daemon.child.kill('SIGSTOP')
      const newcomers = await Promise.all(Array.from({ length: 20 }, () => connectTo(daemon)))
      for (const newcomer of newcomers) newcomer.send(formatHead('GET /', device))
      if (round === 2) {
        upload.send('half')
        halfHead.send(': x\r\n\r\n')
      }
      daemon.child.kill('SIGCONT')
      for (const newcomer of newcomers) {
        assert.equal((await newcomer.read()).status, 200)
        newcomer.close()
      }
      await phone.pushText(`awake ${round}`)
      await untilUpdate(reader)
    }
    assert.equal((await upload.read()).status, 200)
    assert.equal((await halfHead.read()).status, 204)
    const rest = await download.readUntil('kept'.repeat(499_000))
    assert.ok(rest.endsWith('kept'), 'the download goes on')
    for (const client of [upload, halfHead, download]) client.close()

    reader.close()
    assert.equal(await take(phone, 'b'), 'halfhalf')
    await phone.pushFile('File', 'a', Buffer.alloc(2_000_000, 'kept'))
    const { document } = await examine({ daemon, device })
    await assertFit({ daemon, device }, { ...fitness, document })
  })

  /** Lets time pass as a machine does that was asleep: timers are due before anything is read. */
  function sleepThrough(clock: FakeClock, ms: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(() => {
        clock.advance(ms)
        resolve()
      })
    })
  }

  it('hears what came meanwhile before it gives anybody up', async (t) => {
    const clock = new FakeClock()
    const take = (path: `/${string}`, read: (call: Call<Owner>) => Promise<string>) =>
      route('PUT', path, async (call: Call<Owner>) => text(await read(call)), { maxBody: 100 })
    const { connect } = await serveKernel(t, {
      clock,
      routes: [
        take('/stream', async (call) => {
          let body = ''
          for await (const chunk of new StreamedBody(call, 100))
            body += Buffer.from(chunk).toString()
          return body
        }),
        take('/bytes', async (call) => Buffer.from(await readBytes(call, 100)).toString()),
      ],
    })
    for (const path of ['/stream', '/bytes']) {
      const client = await connect()
      client.send(head(`PUT ${path}`, 'Content-Length: 10', 'Expect: 100-continue'))
      assert.equal((await client.read()).status, 100)
      client.send('helloagain')
      await sleepThrough(clock, BODY_IDLE_MS)
      assert.equal((await client.read()).body, 'helloagain', path)
    }
    const client = await connect()
    client.send('GET /public HTTP/1.1\r\nHo')
    client.send('st: box\r\n\r\n')
    await sleepThrough(clock, BODY_IDLE_MS)
    assert.equal((await client.read()).status, 204)
  })
})

describe('a daemon whose clock is set', () => {
  it('a day forward and back loses no upload, no stream and no login', async (t) => {
    const folder = await temporaryFolder(t)
    const clock = join(folder, 'clock')
    const env = { NODE_OPTIONS: `--import ${CLOCK}`, CLIPGATE_TEST_CLOCK: clock }
    const { daemon, device, phone } = await start(t, { folder, env })
    const fitness = await examine({ daemon, device })
    const now = async (): Promise<number> => {
      const response = await phone.fetch('/api/time')
      return Date.parse(String(await response.json()))
    }
    const reader = await openEvents(t, daemon.ready.gateway, phone.authorization)

    for (const jump of [DAY_MS, -2 * DAY_MS, DAY_MS]) {
      const name = `staged before ${jump}`
      await stage(phone, name, name)
      const before = await now()
      await writeFile(clock, String(jump))
      daemon.child.kill('SIGUSR2')
      while (Math.abs((await now()) - before) < DAY_MS / 2) continue
      const { storage } = JSON.parse((await daemon.run('status', '--json')).stdout)
      assert.equal(storage.stagedUploads, 1)
      const response = await phone.fetch('/file/a')
      assert.equal((await response.arrayBuffer()).byteLength, 2_000_000)

      assert.equal(await take(phone, name), name)
      await untilUpdate(reader)
      await phone.pushFile('File', 'a', Buffer.alloc(2_000_000, 'kept'))
      await untilUpdate(reader)
    }
    reader.close()
    const { document } = await examine({ daemon, device })
    await assertFit({ daemon, device }, { ...fitness, document })
    assert.equal(await daemon.stop(), 0)
    assert.equal(daemon.stderr(), '')
  })
})
