import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Frame } from '../support/event-reader.ts'
import { createFakeAdmin, STATUS } from '../support/fake-admin.ts'
import { textItem } from './support/items.ts'
import { openControl, OWNER } from './support/open-control.ts'

/** The state in a frame, which must be one. */
function stateOf(frame: Frame | undefined) {
  assert.ok(
    frame !== undefined && 'event' in frame && frame.event === 'state',
    JSON.stringify(frame),
  )
  return frame.data as {
    serverTimeMs: number
    item: unknown
    status: typeof STATUS
    devices: unknown[]
  }
}

describe('the event stream of the panel', () => {
  it('begins with the state as GET /state tells it', async (t) => {
    const { follow, ask, panel } = await openControl(t)
    panel.item = await textItem('hello')
    const { response, next } = await follow()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/event-stream')
    assert.equal(response.headers['cross-origin-resource-policy'], 'same-origin')
    const { body } = await ask('/state', { headers: OWNER })
    assert.deepEqual(stateOf(await next()), JSON.parse(body))
  })

  it('tells what changed, for devices, the item and a pause alike', async (t) => {
    const { follow, panel, admin, clock } = await openControl(t)
    const { next } = await follow()
    assert.equal(stateOf(await next()).item, null)
    panel.item = await textItem('hello')
    panel.change()
    clock.advance(0)
    assert.notEqual(stateOf(await next()).item, null)
    await admin.registry.add({ kind: 'phone' })
    panel.change()
    clock.advance(250)
    assert.equal(stateOf(await next()).devices.length, 1)
  })

  it('sends one state in 250 ms, however much happens, and the last one in any case', async (t) => {
    let reads = 0
    const status = async () => {
      reads += 1
      return { ...STATUS, devices: reads }
    }
    const admin = { ...createFakeAdmin(), status }
    const { follow, panel, clock } = await openControl(t, { admin })
    const { next } = await follow()
    assert.equal(stateOf(await next()).status.devices, 1)
    for (let count = 0; count < 100; count++) panel.change()
    clock.advance(0)
    assert.equal(stateOf(await next()).status.devices, 2)
    for (let count = 0; count < 100; count++) {
      panel.change()
      clock.advance(2)
    }
    assert.equal(reads, 2)
    clock.advance(50)
    assert.equal(stateOf(await next()).status.devices, 3)
    clock.advance(10_000)
    assert.equal(reads, 3)
  })

  it('sends nothing when all is as it was', async (t) => {
    const { follow, panel, clock } = await openControl(t)
    const { next } = await follow()
    await next()
    panel.change()
    clock.advance(0)
    panel.item = await textItem('new')
    panel.change()
    clock.advance(250)
    assert.notEqual(stateOf(await next()).item, null)
  })

  it('costs nothing while nobody listens', async (t) => {
    let reads = 0
    const status = async () => {
      reads += 1
      return STATUS
    }
    const admin = { ...createFakeAdmin(), status }
    const { follow, panel, clock, control } = await openControl(t, { admin })
    assert.deepEqual([panel.isWatched, clock.pending], [false, 0])
    const { next } = await follow()
    await next()
    assert.equal(panel.isWatched, true)
    control.closeStreams()
    assert.equal(await next(), undefined)
    assert.deepEqual([panel.isWatched, clock.pending, reads], [false, 0, 1])
  })

  it('stops watching when the last one has left', async (t) => {
    const { follow, panel, clock } = await openControl(t)
    const [first, second] = [await follow(), await follow()]
    await first.next()
    await second.next()
    first.response.destroy()
    second.response.destroy()
    const check = (): boolean => !panel.isWatched
    for (; !check(); ) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(clock.pending, 0)
  })

  it('pings every 25 s, and looks then at what nobody tells', async (t) => {
    let freeBytes = 6
    const status = async () => ({ ...STATUS, storage: { ...STATUS.storage, freeBytes } })
    const admin = { ...createFakeAdmin(), status }
    const { follow, clock } = await openControl(t, { admin })
    const { next } = await follow()
    await next()
    freeBytes = 5
    clock.advance(24_999)
    clock.advance(1)
    assert.deepEqual(await next(), { comment: 'ping' })
    clock.advance(0)
    assert.equal(stateOf(await next()).status.storage.freeBytes, 5)
    clock.advance(25_000)
    assert.deepEqual(await next(), { comment: 'ping' })
  })

  it('is one of eight at most: the oldest ends', async (t) => {
    const { follow } = await openControl(t)
    const streams = []
    for (let count = 0; count < 9; count++) {
      const stream = await follow()
      stateOf(await stream.next())
      streams.push(stream)
    }
    assert.equal(await streams[0]?.next(), undefined)
  })

  it('ends when the daemon stops, and a new one at once', async (t) => {
    const { follow, control } = await openControl(t)
    const { next } = await follow()
    await next()
    control.closeStreams()
    assert.equal(await next(), undefined)
    assert.equal(await (await follow()).next(), undefined)
  })

  it('ends when all pages are signed out', async (t) => {
    const { ask, follow, page } = await openControl(t)
    const headers = await page()
    const { next } = await follow(headers)
    await next()
    assert.equal((await ask('/panel', { method: 'DELETE', headers })).status, 200)
    assert.equal(await next(), undefined)
  })

  it('ends when the state cannot be told, and the log says why', async (t) => {
    let isBroken = false
    const status = async () => {
      if (isBroken) throw new Error('disk on fire')
      return STATUS
    }
    const admin = { ...createFakeAdmin(), status }
    const { follow, panel, clock, logger } = await openControl(t, { admin })
    const { next } = await follow()
    await next()
    isBroken = true
    panel.change()
    clock.advance(0)
    assert.equal(await next(), undefined)
    assert.match(logger.text, /Cannot tell the panel the state.*disk on fire/)
    assert.equal(panel.isWatched, false)
    isBroken = false
    stateOf(await (await follow()).next())
  })

  it('keeps one state for a reader that does not read, the newest', async (t) => {
    const { follow, panel, clock } = await openControl(t)
    const { response, next } = await follow()
    await next()
    response.pause()
    for (let count = 1; count <= 50; count++) {
      panel.item = await textItem('x'.repeat(count))
      panel.change()
      clock.advance(250)
    }
    response.resume()
    let item: unknown
    while (Object(item).size !== 50) item = stateOf(await next()).item
  })

  it('begins anew where others are: all of them end up with the same state', async (t) => {
    const { follow, panel, clock } = await openControl(t)
    const first = await follow()
    await first.next()
    const [a, b] = [await textItem('a'), await textItem('b')]
    panel.item = a
    panel.change()
    clock.advance(0)
    stateOf(await first.next())
    panel.item = b
    const second = await follow()
    assert.deepEqual(Object(stateOf(await second.next()).item).contentId, b.item.contentId)
    panel.item = a
    panel.change()
    clock.advance(250)
    for (const { next } of [second, first]) {
      assert.equal(Object(stateOf(await next()).item).contentId, a.item.contentId)
    }
  })
})
