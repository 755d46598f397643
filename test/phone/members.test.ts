import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Download, Page } from 'playwright-core'
import { xclipCopy } from '../desktop/x11/support/xclip.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { unzip } from '../support/unzip.ts'
import { Xvfb } from '../support/xvfb.ts'
import { openPhonePage } from './support/phone-page.ts'

/** What is saved while something is done, by name. */
async function saved(page: Page, count: number, act: () => Promise<void>) {
  const downloads: Download[] = []
  const done = new Promise<void>((resolve) => {
    page.on('download', (one) => void (downloads.push(one) === count && resolve()))
  })
  await act()
  await done
  page.removeAllListeners('download')
  const files = downloads.map(async (one) => {
    return [one.suggestedFilename(), await readFile(await one.path())] as const
  })
  return Object.fromEntries(await Promise.all(files))
}

describe('the phone page', needs('chromium', 'python3'), () => {
  it('lists the files of a group, and saves each of them, or all', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const photo = Buffer.alloc(1_500_000, 'p')
    const files = [
      ['IMG_0001 <b>.jpg', photo],
      ['Notes.txt', Buffer.from('some notes')],
      ['empty', Buffer.alloc(0)],
    ] as const
    await other.uploadBatch('0'.repeat(32), files)
    assert.equal((await other.pushBatch('0'.repeat(32), [1, 2, 3])).status, 200)
    await page.getByText('3 files, 1.4 MiB').waitFor()
    assert.equal(await page.getByText('.zip', { exact: false }).count(), 0)

    const rows = page.locator('.members').getByRole('listitem')
    assert.deepEqual(
      await rows.locator('.name').allTextContents(),
      files.map(([name]) => name).toSorted(),
    )
    const one = page.getByRole('link', { name: 'Save: Notes.txt' })
    assert.deepEqual(await saved(page, 1, () => one.tap()), {
      'Notes.txt': Buffer.from('some notes'),
    })
    const all = page.getByRole('button', { name: 'Save all' })
    const given = await saved(page, 3, () => all.tap())
    // Browsers give such a name without what file systems refuse.
    assert.deepEqual(Object.keys(given).toSorted(), ['IMG_0001 _b_.jpg', 'Notes.txt', 'empty'])
    assert.deepEqual(given['IMG_0001 _b_.jpg'], photo)

    const whole = await saved(page, 1, () => page.getByRole('link', { name: 'zip' }).tap())
    const [archive = Buffer.alloc(0)] = Object.values(whole)
    assert.deepEqual(
      Object.keys(await unzip(archive)).toSorted(),
      files.map(([name]) => name).toSorted(),
    )
    assertCalm()
  })

  it('says of several files that have changed since that they are gone', async (t) => {
    const { page, other } = await openPhonePage(t)
    await other.uploadBatch('0'.repeat(32), [
      ['a', Buffer.from('a')],
      ['b\u202egpj.exe', Buffer.from('b')],
    ])
    await other.pushBatch('0'.repeat(32), [1, 2])
    const save = page.getByRole('link', { name: 'Save: a' })
    await save.waitFor()
    // Else its name would seem to end in "exe.jpg".
    await page.getByRole('link', { name: 'Save: b\ufffdgpj.exe' }).waitFor()
    assert.deepEqual(await page.locator('.members .name').allTextContents(), [
      'a',
      'b\ufffdgpj.exe',
    ])
    // As after ten minutes, when the ticket has ended.
    await page.evaluate('Date.now = () => 4e12')
    await page.route('**/phone/tickets', (route) => {
      return route.fulfill({ status: 404, contentType: 'application/problem+json' })
    })
    await save.tap()
    await page.getByText('Something newer is on the clipboard.').waitFor()
  })
})

describe('the phone page of a desktop', needs('chromium', 'Xvfb', 'xclip'), () => {
  it('lists what was copied there, with the folders that it is in', async (t) => {
    const { display } = await Xvfb.start(t)
    const { page } = await openPhonePage(t, {}, { args: [], env: { DISPLAY: display } })
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'trip'))
    await writeFile(join(folder, 'trip', 'one.txt'), 'first')
    await writeFile(join(folder, 'two.txt'), 'second')
    const uris = ['trip', 'two.txt'].map((name) => `${pathToFileURL(join(folder, name))}\r\n`)
    await xclipCopy(t, display, uris.join(''), 'text/uri-list')
    await page.getByText('2 files, 11 bytes').waitFor()
    const link = page.getByRole('link', { name: 'Save: trip/one.txt' })
    assert.deepEqual(await saved(page, 1, () => link.tap()), { 'one.txt': Buffer.from('first') })
  })
})
