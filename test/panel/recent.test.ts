import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { needs } from '../support/requirements.ts'
import { itemOf, openPanel, type OpenPanel } from './support/panel.ts'

function recentOf({ page }: OpenPanel): Locator {
  return page.getByRole('region', { name: 'Recent items' })
}

describe('the recent items in the panel', needs('chromium'), () => {
  it('brings one back with a click', async (t) => {
    const panel = await openPanel(t)
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
    // The item is current before the list of late has heard of it.
    await recent.getByRole('listitem').nth(2).waitFor({ state: 'detached' })
    assert.equal(await recent.getByRole('listitem').count(), 2)
    panel.assertCalm()
  })

  it('shows no text, and asks for none, while previews are hidden', async (t) => {
    const panel = await openPanel(t)
    const phone = await panel.pairPhone('Pixel')
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

  it('forgets all of them, and keeps none where nobody wants that', async (t) => {
    const panel = await openPanel(t)
    const phone = await panel.pairPhone('Pixel')
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
