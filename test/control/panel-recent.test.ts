import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { recentText, textItem } from './support/items.ts'
import { openControl, OWNER } from './support/open-control.ts'

describe('the recent items', () => {
  it('are shown by their first characters, as plain text', async (t) => {
    const { ask, panel } = await openControl(t)
    panel.recent.list = [recentText('7', `\n\n  <b>${'👋'.repeat(500)}`)]
    const { status, headers, body } = await ask('/recent/7', { headers: OWNER })
    assert.deepEqual([status, body], [200, `<b>${'👋'.repeat(117)}`])
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['content-security-policy'], "sandbox; default-src 'none'")
  })

  it('are made current again, and are forgotten', async (t) => {
    const { ask, read, panel } = await openControl(t)
    panel.recent.list = [recentText('7', 'x')]
    const again = { method: 'POST', headers: OWNER }
    assert.equal((await ask('/recent/7', again)).status, 200)
    assert.equal((await ask('/recent/8', again)).status, 404)
    assert.deepEqual(panel.recent.activated, ['7'])
    assert.equal((await ask('/recent', { method: 'DELETE', headers: OWNER })).status, 200)
    assert.deepEqual((await read('/state')).recent, [])
    assert.equal((await ask('/recent/7', { headers: OWNER })).status, 404)
  })
})

describe('the current text', () => {
  it('can be had as a whole', async (t) => {
    const { ask, panel } = await openControl(t)
    assert.equal((await ask('/item/text', { headers: OWNER })).status, 404)
    const text = 'ü'.repeat(MIB)
    panel.item = await textItem(text)
    const { headers, body } = await ask('/item/text', { headers: OWNER })
    assert.equal(body, text)
    assert.equal(headers['etag'], `"${panel.item.item.contentId}"`)
  })
})
