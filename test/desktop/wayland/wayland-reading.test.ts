import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../../support/requirements.ts'
import { SWAY_TOOLS } from '../../support/sway.ts'
import { openWayland, sharedSway } from './support/open-wayland.ts'
import { clear, wlCopy, wlPaste } from './support/wl-clipboard.ts'

const PNG = Buffer.from('89504e470d0a1a0a00', 'hex')

describe('WaylandClipboard, reading', { ...needs(...SWAY_TOOLS), timeout: 60_000 }, () => {
  it('reports what is there at the start when it is asked to', async (t) => {
    const sway = await sharedSway()
    await wlCopy(t, sway.env, 'early')
    const { copies } = await openWayland(t, sway, { readAtStart: true })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'early' })
    await wlCopy(t, sway.env, 'late')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'late' })
  })

  it('says nothing of what is there at the start when it is not', async (t) => {
    const sway = await sharedSway()
    await wlCopy(t, sway.env, 'early')
    const { copies } = await openWayland(t, sway)
    await wlCopy(t, sway.env, 'late')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'late' })
  })

  it('says nothing of what it cannot share, nor of a clipboard that was cleared', async (t) => {
    const { env, copies, troubles } = await openWayland(t, await sharedSway())
    await wlCopy(t, env, 'secret', 'x-kde-passwordManagerHint')
    await wlCopy(t, env, 'bytes', 'application/x-unknown')
    await wlCopy(t, env, '')
    await clear(env)
    await wlCopy(t, env, 'the end')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'the end' })
    assert.deepEqual([copies.size, troubles.size], [0, 0])
  })

  it('stops reading a copy that is too large, says so, and is well with the next one', async (t) => {
    const limits = { maxTextBytes: 1000, maxImageBytes: 2000 }
    const { env, copies, troubles, logger } = await openWayland(t, await sharedSway(), { limits })
    await wlCopy(t, env, 'x'.repeat(1001))
    assert.match(String(await troubles.next()), /larger than 1000 bytes/)
    await wlCopy(t, env, 'x'.repeat(1000))
    assert.deepEqual(await troubles.next(), { isOver: true })
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'x'.repeat(1000) })
    await wlCopy(t, env, Buffer.alloc(3_000_000, PNG), 'image/png')
    assert.match(String(await troubles.next()), /larger than 2000 bytes/)
    assert.equal(copies.size, 0)
    assert.doesNotMatch(logger.text, /xxx/)
  })

  it('takes the last of many copies that follow each other at once', async (t) => {
    const { env, copies } = await openWayland(t, await sharedSway())
    for (let count = 0; count <= 10; count += 1) await wlCopy(t, env, `copy ${count}`)
    const seen: unknown[] = []
    for (let copied = await copies.next(); ; copied = await copies.next()) {
      seen.push(copied.kind === 'text' && copied.text)
      if (seen.at(-1) === 'copy 10') break
    }
    assert.deepEqual(seen, [...new Set(seen)].toSorted(byNumber))
    assert.equal(String(await wlPaste(env, 'text/plain')), 'copy 10')
  })
})

function byNumber(one: unknown, other: unknown): number {
  return Number(String(one).split(' ')[1]) - Number(String(other).split(' ')[1])
}
