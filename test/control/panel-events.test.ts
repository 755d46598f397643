import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { DaemonStatus } from '../../src/ports/admin.ts'
import type { StoredItem } from '../../src/ports/latest-item.ts'
import type { Frame } from '../support/event-reader.ts'
import { createFakeAdmin, STATUS } from '../support/fake-admin.ts'
import { textItem } from './support/items.ts'
import { openControl } from './support/open-control.ts'

/** The state in a frame, which must be one. */
function stateOf(frame: Frame | undefined) {
  const isState = frame !== undefined && 'event' in frame && frame.event === 'state'
  assert.ok(isState, JSON.stringify(frame))
  return frame.data as {
    item: { size: number; contentId: string } | null
    status: typeof STATUS
    devices: unknown[]
  }
}

/** A listener with an open event stream that has had its first state. */
async function openStream(t: TestContext, status?: () => Promise<DaemonStatus>) {
  const admin = { ...(await createFakeAdmin()), ...(status === undefined ? {} : { status }) }
  const opened = await openControl(t, { admin })
  const { panel, clock } = opened
  const { response, next } = await opened.follow()
  const first = stateOf(await next())
  /** Something has changed, and so much time has passed. */
  const change = (waitMs: number, item: StoredItem | undefined = panel.item): void => {
    panel.item = item
    panel.change()
    clock.advance(waitMs)
  }
  const nextState = async () => stateOf(await next())
  return { ...opened, response, next, first, change, nextState }
}

describe('the event stream of the panel', () => {
  it('begins with the state as GET /state tells it', async (t) => {
    const { follow, read, panel } = await openControl(t)
    panel.item = await textItem('hello')
    const { response, next } = await follow()
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'text/event-stream')
    assert.equal(response.headers['cross-origin-resource-policy'], 'same-origin')
    assert.deepEqual(stateOf(await next()), await read('/state'))
  })

  it('tells what changed, for devices, the item and a pause alike', async (t) => {
    const { first, change, nextState, admin } = await openStream(t)
    assert.equal(first.item, null)
    change(0, await textItem('hello'))
    assert.equal((await nextState()).item?.size, 5)
    await admin.registry.add({ kind: 'phone' })
    change(250)
    assert.equal((await nextState()).devices.length, 1)
  })

  it('sends one state in 250 ms, however much happens, and the last one in any case', async (t) => {
    let reads = 0
    const status = async () => ({ ...STATUS, devices: ++reads })
    const { first, panel, change, nextState, clock } = await openStream(t, status)
    assert.equal(first.status.devices, 1)
    for (let count = 0; count < 100; count++) panel.change()
    clock.advance(0)
    assert.equal((await nextState()).status.devices, 2)
    for (let count = 0; count < 100; count++) change(2)
    assert.equal(reads, 2)
    clock.advance(50)
    assert.equal((await nextState()).status.devices, 3)
    clock.advance(10_000)
    assert.equal(reads, 3)
  })

  it('sends nothing when all is as it was', async (t) => {
    const { change, nextState } = await openStream(t)
    change(0)
    change(250, await textItem('new'))
    assert.notEqual((await nextState()).item, null)
  })

  it('costs nothing while nobody listens', async (t) => {
    const idle = await openControl(t)
    assert.deepEqual([idle.panel.isWatched, idle.clock.pending], [false, 0])
    let reads = 0
    const status = async () => ({ ...STATUS, devices: ++reads })
    const { next, panel, clock, control } = await openStream(t, status)
    assert.equal(panel.isWatched, true)
    control.closeStreams()
    assert.equal(await next(), undefined)
    assert.deepEqual([panel.isWatched, clock.pending, reads], [false, 0, 1])
  })

  it('stops watching when the last one has left', async (t) => {
    const { response, follow, panel, clock } = await openStream(t)
    const second = await follow()
    await second.next()
    response.destroy()
    second.response.destroy()
    const check = (): boolean => !panel.isWatched
    for (; !check(); ) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(clock.pending, 0)
  })

  it('pings every 25 s, and looks then at what nobody tells', async (t) => {
    let freeBytes = 6
    const status = async () => ({ ...STATUS, storage: { ...STATUS.storage, freeBytes } })
    const { next, nextState, clock } = await openStream(t, status)
    freeBytes = 5
    clock.advance(24_999)
    clock.advance(1)
    assert.deepEqual(await next(), { comment: 'ping' })
    clock.advance(0)
    assert.equal((await nextState()).status.storage.freeBytes, 5)
    clock.advance(25_000)
    assert.deepEqual(await next(), { comment: 'ping' })
  })

  it('is one of eight at most: the oldest ends', async (t) => {
    const { next, follow } = await openStream(t)
    for (let count = 0; count < 8; count++) stateOf(await (await follow()).next())
    assert.equal(await next(), undefined)
  })

  it('ends when the daemon stops, and a new one at once', async (t) => {
    const { next, follow, control } = await openStream(t)
    control.closeStreams()
    assert.equal(await next(), undefined)
    assert.equal(await (await follow()).next(), undefined)
  })

  it('ends when the state cannot be told, and the log says why', async (t) => {
    let isBroken = false
    const status = async () => {
      if (isBroken) throw new Error('disk on fire')
      return STATUS
    }
    const { next, follow, panel, change, logger } = await openStream(t, status)
    isBroken = true
    change(0)
    assert.equal(await next(), undefined)
    assert.match(logger.text, /Cannot tell the panel the state.*disk on fire/)
    assert.equal(panel.isWatched, false)
    isBroken = false
    stateOf(await (await follow()).next())
  })

  it('keeps one state for a reader that does not read, the newest', async (t) => {
    const { response, change, nextState } = await openStream(t)
    response.pause()
    for (let count = 1; count <= 50; count++) change(250, await textItem('x'.repeat(count)))
    response.resume()
    while ((await nextState()).item?.size !== 50);
  })

  it('begins anew where others are: all of them end up with the same state', async (t) => {
    const { panel, follow, change, nextState } = await openStream(t)
    const [a, b] = [await textItem('a'), await textItem('b')]
    change(0, a)
    await nextState()
    panel.item = b
    const { next } = await follow()
    assert.equal(stateOf(await next()).item?.contentId, b.item.contentId)
    change(250, a)
    for (const { item } of [stateOf(await next()), await nextState()]) {
      assert.equal(item?.contentId, a.item.contentId)
    }
  })
})
