import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { PNG } from 'pngjs'
import { needs } from '../support/requirements.ts'
import { itemOf, openPanel, openWithPhone, type OpenPanel } from './support/panel.ts'

/** A phone is paired already. */
const PIXEL = { devices: ['Pixel'] }

const DOT = PNG.sync.write(new PNG({ width: 2, height: 2 }))

function widthOf(image: unknown): unknown {
  return Object(image).naturalWidth
}

function recentOf({ page }: OpenPanel): Locator {
  return page.getByRole('region', { name: 'Recent items' })
}

describe('the recent items in the panel', needs('chromium'), () => {
  it('brings one back with a click', async (t) => {
    const panel = await openPanel(t, PIXEL)
    const recent = recentOf(panel)
    assert.equal(await recent.isVisible(), false)
    const phone = await panel.pairPhone('Pixel')
    await phone.pushText('the first text')
    await phone.pushFile('File', 'notes.txt', Buffer.from('some notes'))
    await phone.pushText('the last text')
    await recent.getByRole('listitem').nth(1).getByText('the first text').waitFor()
    await recent.getByRole('listitem').nth(0).getByText('notes.txt').waitFor()
    assert.equal(await recent.getByText('from Pixel').count(), 2)

    await recent.getByRole('button', { name: 'Use again: notes.txt' }).click()
    await itemOf(panel).getByRole('heading', { name: 'notes.txt' }).waitFor()
    await itemOf(panel).getByText('pushed on this computer').waitFor()
    const { dataName } = await phone.document()
    assert.equal(dataName, 'notes.txt')
    assert.equal(await (await phone.fetch('/file/notes.txt')).text(), 'some notes')
    await recent.getByRole('listitem').nth(0).getByText('the last text').waitFor()
    // The item is current before the list of recent items has heard of it.
    await recent.getByRole('listitem').nth(2).waitFor({ state: 'detached' })
    assert.equal(await recent.getByRole('listitem').count(), 2)
    panel.assertCalm()
  })

  it('shows no text, and asks for none, while previews are hidden', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushText('first')
    await itemOf(panel).getByRole('button', { name: 'Hide preview' }).click()
    const requests: string[] = []
    panel.page.on('request', (request) => requests.push(request.url()))
    await phone.pushText('a secret')
    const rows = recentOf(panel).getByRole('listitem')
    await rows.nth(0).getByText('A text').waitFor()
    await phone.pushText('the last')
    await rows.nth(1).getByText('A text').waitFor()
    assert.ok(!(await panel.page.content()).includes('a secret'), 'The text shows')
    assert.deepEqual(
      requests.filter((url) => url.includes('recent')),
      [],
    )
    await itemOf(panel).getByRole('button', { name: 'Show preview' }).click()
    await rows.nth(0).getByText('a secret').waitFor()
    panel.assertCalm()
  })

  it('copies, saves and removes each, and shows pictures small', async (t) => {
    const panel = await openPanel(t, PIXEL)
    const { page } = panel
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const phone = await panel.pairPhone('Pixel')
    const long = `a long text ${'and on '.repeat(1000)}`
    await phone.pushText(long)
    await phone.pushFile('Image', 'dot.png', DOT)
    await phone.pushText('the last text')
    const rows = recentOf(panel).getByRole('listitem')
    await rows.nth(0).locator('img').waitFor()
    assert.equal(await rows.nth(0).locator('img').evaluate(widthOf), 2)
    await rows.nth(1).getByText('a long text').waitFor()

    await page.getByRole('button', { name: 'Copy: a long text' }).click()
    await page.getByRole('status').filter({ hasText: 'Copied.' }).waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), long)

    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save: dot.png' }).click()
    const saved = await saving
    assert.equal(saved.suggestedFilename(), 'dot.png')
    assert.deepEqual(await readFile(await saved.path()), DOT)

    await page.getByRole('button', { name: 'Remove: a long text' }).click()
    await rows.nth(1).waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 1)
    panel.assertCalm()
  })

  it('leaves devices in sight whatever came lately, and finds words in all of it', async (t) => {
    const viewport = { width: 1280, height: 900 }
    const panel = await openPanel(t, { browser: { viewport } })
    const { page } = panel
    const phone = await panel.pairPhone('Pixel')
    await phone.pushText(`${'x'.repeat(200)} Needle`)
    for (let index = 2; index < 20; index++) await phone.pushText(`text ${index}`)
    await phone.pushFile('Image', 'dot.png', DOT)
    const rows = recentOf(panel).getByRole('listitem')
    await itemOf(panel).getByRole('img').waitFor()
    await rows.nth(0).getByText('text 19').waitFor()
    assert.equal(await rows.count(), 5)
    for (const inSight of [
      page.getByRole('button', { name: 'Add a device' }),
      page.getByRole('heading', { name: 'Pixel' }),
    ]) {
      const box = await inSight.boundingBox()
      assert.ok(box !== null && box.y + box.height <= viewport.height, JSON.stringify(box))
    }

    await recentOf(panel).getByRole('searchbox').fill('needle')
    await rows.nth(0).getByText('xxxx').waitFor()
    await rows.nth(1).waitFor({ state: 'detached' })
    await page.route('**/recent', (route) => route.abort())
    await recentOf(panel).getByRole('searchbox').fill('no such word')
    await recentOf(panel).getByText('clipgate does not answer.').waitFor()
    await page.unroute('**/recent')
    await recentOf(panel).getByRole('searchbox').fill('no such word ')
    await recentOf(panel).getByText('clipgate does not answer.').waitFor({ state: 'hidden' })
    await recentOf(panel).getByText('No recent item has that in it.').waitFor()
    await recentOf(panel).getByRole('searchbox').fill('')
    await recentOf(panel).getByRole('button', { name: 'All 19' }).click()
    await rows.nth(18).getByText('xxxx').waitFor()
    await recentOf(panel).getByRole('button', { name: 'The newest only' }).click()
    await rows.nth(5).waitFor({ state: 'detached' })
    panel.assertCalm()
  })

  it('forgets all of them, and keeps none where nobody wants that', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushText('first')
    await phone.pushText('second')
    await recentOf(panel).getByText('first', { exact: true }).waitFor()
    await recentOf(panel).getByRole('button', { name: 'Forget all' }).click()
    await recentOf(panel).waitFor({ state: 'hidden' })
    await itemOf(panel).getByText('second', { exact: true }).waitFor()

    const other = await openPanel(t, { args: ['--clipboard', 'none', '--recent', '0'] })
    const otherPhone = await other.pairPhone('Pixel')
    await otherPhone.pushText('first')
    await otherPhone.pushText('second')
    await itemOf(other).getByText('second', { exact: true }).waitFor()
    // Who sent it is told behind the item, as the list would be.
    await itemOf(other).getByText('from Pixel').waitFor()
    assert.equal(await recentOf(other).isVisible(), false)
  })
})
