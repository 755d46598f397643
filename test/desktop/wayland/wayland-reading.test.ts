import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { needs } from '../../support/requirements.ts'
import { SWAY_TOOLS } from '../../support/sway.ts'
import { pauseThatEnded, untilHeldBack } from '../support/open-reconciler.ts'
import { openWayland, sharedSway } from './support/open-wayland.ts'
import { clear, wlCopy, wlPaste } from './support/wl-clipboard.ts'

describe('WaylandClipboard, reading', { ...needs(...SWAY_TOOLS), timeout: 60_000 }, () => {
  it('says nothing of what is there at the start when it is not asked to', async (t) => {
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

  it('shares nothing that it finds at its start while what was copied in a pause is held back', async (t) => {
    const { env } = await sharedSway()
    const start = { readAtStart: true, pause: pauseThatEnded() }
    await wlCopy(t, env, 'private')
    const opened = await openWayland(t, { env }, start)
    await untilHeldBack(opened)
    await wlCopy(t, env, 'after')
    assert.deepEqual(await opened.copies.next(), { kind: 'text', text: 'after' })
    await opened.clipboard.close()
    await clear(env)
    const { copies } = await openWayland(t, { env }, { ...start, pause: pauseThatEnded() })
    await wlCopy(t, env, 'the first copy')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'the first copy' })
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
