import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as tick } from 'node:timers/promises'
import { describe, it } from 'node:test'
import type { ContentId } from '../../src/core/content-id.ts'
import { type EventReader, type Frame, openEvents } from '../support/event-reader.ts'
import { serveGateway } from '../support/gateway.ts'
import { layCable, needsMachines } from '../support/machines.ts'
import { addCheapDevices } from '../support/many-devices.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startHeadless } from './support/subject.ts'

const CONTENT_ID: ContentId = `blake3v1:${'0'.repeat(64)}`

function nameOf(frame: Frame | undefined): string | undefined {
  return frame !== undefined && 'event' in frame ? frame.event : undefined
}

it('a client that opens a stream and does not read it costs one frame, delays nobody, and learns that it missed something', async (t) => {
  const { url, authorization, addPhone, changes, server, clock } = await serveGateway(t)
  const connected = once(server, 'connection')
  const slow = await openEvents(t, url, authorization)
  // What `once` gave is what the event carries.
  const [socket] = (await connected) as [Socket]
  const quick = await openEvents(t, url, (await addPhone()).authorization)
  for (const reader of [slow, quick]) assert.equal(nameOf(await reader.next()), 'hello')
  slow.response.pause()

  const publish = (activatedAt: number) => changes.publish({ contentId: CONTENT_ID, activatedAt })
  let published = 0
  let waiting = 0
  // Until the buffers of the system are full, and for as long again.
  for (let rest = Number.POSITIVE_INFINITY; rest > 0; rest -= 1) {
    publish(++published)
    const frame = await quick.next()
    assert.equal(frame !== undefined && 'event' in frame && frame.data['server_time_ms'], published)
    if (socket.writableLength > 0 && rest === Number.POSITIVE_INFINITY) {
      rest = published
      waiting = socket.writableLength
    }
  }
  assert.equal(socket.writableLength, waiting, 'nothing more was queued')

  slow.response.resume()
  const seen: Frame[] = []
  for (let frame = await slow.next(); nameOf(frame) !== 'resync'; frame = await slow.next()) {
    assert.equal(nameOf(frame), 'update')
    if (frame !== undefined) seen.push(frame)
  }
  const newest = seen.at(-1)
  assert.equal(
    newest !== undefined && 'event' in newest && newest.data['server_time_ms'],
    published,
  )
  assert.equal(seen.length < published, true, 'some were left out')
  publish(++published)
  assert.equal(nameOf(await slow.next()), 'update')
  assert.equal(clock.pending, 1)
})

it('a client that opens a stream and does not read it does not hold up a revocation, nor the end of the gateway', async (t) => {
  const { url, authorization, device, devices, changes, server, gateway } = await serveGateway(t)
  const connected = once(server, 'connection')
  const reader = await openEvents(t, url, authorization)
  const [socket] = (await connected) as [Socket]
  reader.response.pause()
  for (let at = 0; socket.writableLength === 0; at += 1) {
    changes.publish({ contentId: CONTENT_ID, activatedAt: at })
    await tick()
  }
  const closed = once(socket, 'close')
  await devices.revoke(device.id)
  assert.equal(gateway.countStreams(device.id), 0)
  await closed
})

it('a thousand event streams all hear of each push, once and in order; and end when the daemon does', async (t) => {
  const folder = await temporaryFolder(t)
  const first = await startHeadless(t, { folder, devices: ['Phone'] })
  const phone = await first.pair('Phone')
  await first.stop()
  const devices = await addCheapDevices(join(folder, 'data', 'devices.json'), 500)
  const daemon = await startHeadless(t, { folder })
  const { gateway } = daemon.ready
  const readers: EventReader[] = []
  for (const { authorization } of devices) {
    for (const stream of [1, 2]) {
      const reader = await openEvents(t, gateway, authorization)
      assert.equal(nameOf(await reader.next()), 'hello', `${stream}`)
      readers.push(reader)
    }
  }

  const pusher = createPhone(phone, gateway)
  const contentIds: unknown[] = []
  for (const text of ['one', 'two', 'three']) {
    await pusher.pushText(text)
    contentIds.push((await pusher.document())['contentId'])
  }
  for (const reader of readers) {
    for (const contentId of contentIds) {
      let frame = await reader.next()
      // Signs of life, on a machine that is busy.
      while (frame !== undefined && 'comment' in frame) frame = await reader.next()
      assert.equal(frame?.data['content_id'], contentId)
    }
  }

  const [victim] = devices
  await daemon.run('revoke', victim?.username ?? '')
  for (const reader of readers.slice(0, 2)) assert.deepEqual(await reader.rest(), [])
  const listed = JSON.parse((await daemon.run('devices', '--json')).stdout)
  const streams = listed.reduce(
    (sum: number, device: { streams: number }) => sum + device.streams,
    0,
  )
  assert.equal(streams, 998)

  assert.equal(await daemon.stop(), 0)
  for (const reader of readers.slice(2)) assert.deepEqual(await reader.rest(), [])
})

describe('a client whose machine vanishes without a word', needsMachines(), () => {
  it('delays nobody, gives way to the next stream, and can be revoked', async (t) => {
    const { machine, here, pull } = await layCable(t, 'lost')
    const daemon = await startHeadless(t, {
      args: ['--listen', '0.0.0.0:0', '--grace', '0'],
      devices: ['Lost', 'Spectator'],
    })
    const [lost, spectator] = [await daemon.pair('Lost'), await daemon.pair('Spectator')]
    const { port } = new URL(daemon.ready.gateway)
    const login = `${lost.username}:${lost.password}`
    const url = `http://${here}:${port}/api/sse/clipboard`
    const [program = '', ...args] = [...machine.inside, 'curl', '-sN', '-u', login, url]
    const client = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => client.kill('SIGKILL'))
    const [hello] = await once(createInterface({ input: client.stdout }), 'line')
    assert.equal(hello, 'event: hello')
    const watcher = createPhone(spectator, daemon.ready.gateway)
    const reader = await openEvents(t, daemon.ready.gateway, watcher.authorization)
    assert.equal(nameOf(await reader.next()), 'hello')

    await pull()
    for (const text of ['one', 'two', 'three']) await watcher.pushText(text)
    let updates = 0
    while (updates < 3) if (nameOf(await reader.next()) === 'update') updates += 1

    const back = createPhone(lost, daemon.ready.gateway)
    for (const round of [1, 2]) {
      const again = await openEvents(t, daemon.ready.gateway, back.authorization)
      assert.equal(nameOf(await again.next()), 'hello', `${round}`)
    }
    const [listed] = JSON.parse((await daemon.run('devices', '--json')).stdout)
    assert.equal(listed.streams, 2)
    await daemon.run('revoke', lost.id)
    assert.equal((await back.fetch('/')).status, 401)
    assert.equal(await daemon.stop(), 0)
  })
})
