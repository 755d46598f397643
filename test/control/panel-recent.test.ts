import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { bytesOfLate, recentText, textItem } from './support/items.ts'
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

  it('are had as a whole, looked through, and forgotten one by one', async (t) => {
    const { ask, panel } = await openControl(t)
    const text = `Once ${'ü'.repeat(500)} UPON a time`
    panel.recent.list = [recentText('7', text), recentText('8', 'x')]
    const long = `${'\u4e2d'.repeat(MIB / 3 - 0.5)}Middle${'\u4e2d'.repeat(9)}`
    panel.recent.list = [...panel.recent.list, { ...recentText('6', long), text: 'Begins' }]
    assert.equal((await ask('/recent/7/text', { headers: OWNER })).body, text)
    assert.equal((await ask('/recent/9/text', { headers: OWNER })).status, 404)
    const find = async (word: string) => {
      const request = { method: 'POST', headers: OWNER, body: JSON.stringify({ word }) }
      return JSON.parse((await ask('/recent', request)).body)
    }
    assert.deepEqual(await find('Upon a'), { ids: ['7'] })
    assert.deepEqual(await find('middle'), { ids: ['6'] })
    assert.deepEqual(await find('y'), { ids: [] })
    const forget = { method: 'DELETE', headers: OWNER }
    assert.equal((await ask('/recent/7', forget)).status, 200)
    assert.equal((await ask('/recent/7', forget)).status, 404)
    assert.deepEqual(
      panel.recent.list.map(({ id }) => id),
      ['8', '6'],
    )
  })

  it('show a picture, and nothing that a browser would run', async (t) => {
    const { ask, panel } = await openControl(t)
    const picture = { ...recentText('7', 'a.png'), type: 'Image', blob: bytesOfLate('x') } as const
    panel.recent.list = [
      { ...picture, mediaType: 'image/png' },
      { ...picture, id: '8', mediaType: 'image/svg+xml' },
    ]
    const { headers, body } = await ask('/recent/7', { headers: OWNER })
    assert.deepEqual([headers['content-type'], body], ['image/png', 'x'])
    assert.equal(headers['content-security-policy'], "sandbox; default-src 'none'")
    assert.equal((await ask('/recent/8', { headers: OWNER })).status, 404)
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
