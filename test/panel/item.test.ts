import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { PNG } from 'pngjs'
import { needs } from '../support/requirements.ts'
import { itemOf, openPanel, openWithPhone } from './support/panel.ts'

/** A phone is paired already. */
const PIXEL = { devices: ['Pixel'] }

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'

describe('the current item in the panel', needs('chromium'), () => {
  it('changes when a phone pushes, without a reload', async (t) => {
    const panel = await openPanel(t, PIXEL)
    const item = itemOf(panel)
    await item.getByText('Nothing here yet').waitFor()
    const phone = await panel.pairPhone('Pixel')
    await phone.pushText('first')
    await item.getByText('first', { exact: true }).waitFor()
    await item.getByText('5 bytes').waitFor()
    await phone.pushText('a second one')
    await item.getByText('a second one', { exact: true }).waitFor()
    assert.equal(await item.getByText('first', { exact: true }).count(), 0)
    await phone.pushFile('File', 'notes <b>\u202e1.txt', Buffer.from('x'.repeat(2048)))
    await item.getByRole('heading', { name: 'notes <b>\ufffd1.txt' }).waitFor()
    await item.getByText('2.0 KiB').waitFor()
    await item.getByText('There is no preview').waitFor()
    panel.assertCalm()
  })

  it('ages without asking anybody', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await panel.page.clock.install()
    await panel.page.reload()
    await phone.pushText('old soon')
    const item = itemOf(panel)
    await item.getByText('just now').waitFor()
    const requests: string[] = []
    panel.page.on('request', (request) => requests.push(request.url()))
    // A stream that is silent for long is another matter.
    await panel.page.clock.fastForward(6_000)
    await item.getByText(/\d seconds ago/).waitFor()
    assert.deepEqual(requests, [])
  })

  it('shows the beginning of a long text, and says that there is more', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushText('ä'.repeat(5000))
    const item = itemOf(panel)
    await item.getByText('Only the beginning is shown').waitFor()
    assert.equal((await item.locator('pre').textContent())?.length, 2000)
  })

  it('shows a picture, and never one that could run', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const png = new PNG({ width: 3, height: 2 })
    await phone.pushFile('Image', 'dot.png', PNG.sync.write(png))
    const image = itemOf(panel).getByRole('img', { name: 'Preview of the current image' })
    await image.waitFor()
    await panel.page.waitForFunction(`document.querySelector('.preview img').naturalWidth === 3`)
    await phone.pushFile('Image', 'evil.svg', Buffer.from(SVG))
    await itemOf(panel).getByText('There is no preview').waitFor()
    assert.equal(await image.count(), 0)
    panel.assertCalm()
  })

  it('lists several files, and saves each of them', async (t) => {
    const panel = await openPanel(t, PIXEL)
    const { page } = panel
    const phone = await panel.pairPhone('Pixel')
    await phone.uploadBatch('0'.repeat(32), [
      ['IMG <b>1.jpg', Buffer.from('a photo')],
      ['notes.txt', Buffer.from('some notes')],
    ])
    await phone.pushBatch('0'.repeat(32), [1, 2])
    const item = itemOf(panel)
    await item.getByText('2 files, 17 bytes').waitFor()
    const names = item.locator('.members .name')
    assert.deepEqual(await names.allTextContents(), ['IMG <b>1.jpg', 'notes.txt'])
    const saving = page.waitForEvent('download')
    await item.getByRole('button', { name: 'Save: notes.txt' }).click()
    const saved = await saving
    assert.equal(saved.suggestedFilename(), 'notes.txt')
    assert.equal(await readFile(await saved.path(), 'utf8'), 'some notes')
    for (const name of ['Save all', 'Save as one zip file']) {
      await item.getByRole('button', { name }).waitFor()
    }
    await item.getByRole('button', { name: 'Hide preview' }).click()
    await item.getByText('The preview is hidden').waitFor()
    assert.equal(await item.getByText('notes.txt').count(), 0)
    panel.assertCalm()
  })

  it('is hidden when the reader wants that, also next time, and is not fetched then', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushText('a secret')
    const item = itemOf(panel)
    await item.getByText('a secret', { exact: true }).waitFor()
    await item.getByRole('button', { name: 'Hide preview' }).click()
    await item.getByText('The preview is hidden').waitFor()

    const requests: string[] = []
    panel.page.on('request', (request) => requests.push(request.url()))
    await panel.page.reload()
    await item.getByText('The preview is hidden').waitFor()
    await phone.pushText('another secret')
    await item.getByText('14 bytes').waitFor()
    assert.ok(!(await panel.page.content()).includes('another secret'), 'The text shows')
    assert.deepEqual(
      requests.filter((url) => url.includes('preview')),
      [],
    )
    await item.getByRole('button', { name: 'Show preview' }).click()
    await item.getByText('another secret', { exact: true }).waitFor()
  })
})
