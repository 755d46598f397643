import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { pasteUntil } from '../desktop/x11/support/xclip.ts'
import { needs } from '../support/requirements.ts'
import { unzip } from '../support/unzip.ts'
import { Xvfb } from '../support/xvfb.ts'
import { openPhonePage, sendText, uploadsOf } from './support/phone-page.ts'

const JPEG = '\xff\xd8\xff\xe0'

/** A photo as iOS names all of them. */
function photo(words: string) {
  const buffer = Buffer.from(`${JPEG} ${words}`, 'latin1')
  return { name: 'image.jpg', mimeType: 'image/jpeg', buffer }
}

describe('the phone page', needs('chromium', 'python3'), () => {
  it('sends a text, and files one after the other', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    await sendText(page, 'from the phone')
    await page.getByText('Sent', { exact: true }).waitFor()
    await other.reads({ text: 'from the phone' })
    // Given as bytes: Chromium finds no file of such a name where the locale is that of no language.
    const files = [
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('the first') },
      { name: 'zwei ä.bin', mimeType: '', buffer: Buffer.alloc(3_000_000, 'x') },
    ]
    for (const file of files) {
      await page.locator('input[type=file]').first().setInputFiles([file])
      await other.reads({ dataName: file.name })
      assert.deepEqual(await other.download(), file.buffer)
      await uploadsOf(page).last().getByText('Sent', { exact: true }).waitFor()
    }
    assertCalm()
  })

  it('sends photos that were chosen together as one group, also when all have one name', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    const photos = ['one', 'two', 'three'].map(photo)
    await page.locator('input[type=file]').first().setInputFiles(photos)
    await other.reads({ type: 'Group' })
    for (const nth of photos.keys()) {
      const words = 'Sent: 3 files as one group'
      await uploadsOf(page).nth(nth).getByText(words, { exact: true }).waitFor()
    }
    assert.deepEqual(await unzip(await other.download()), {
      'image.jpg': `${JPEG} one`,
      'image (2).jpg': `${JPEG} two`,
      'image (3).jpg': `${JPEG} three`,
    })
    assertCalm()
  })

  it('sends the rest of them when one fails, and all once more when the computer lost some', async (t) => {
    const { page, other } = await openPhonePage(t)
    await page.route('**/file/*', (route) => {
      const isSecond = route.request().headers()['x-clipgate-batch']?.endsWith('/2')
      return isSecond ? route.fulfill({ status: 413 }) : route.continue()
    })
    let refusals = 1
    await page.route('**/Sync.json', (route) => {
      const isRefused = route.request().method() === 'PUT' && refusals-- > 0
      const lost = { status: 404, contentType: 'application/problem+json' }
      return isRefused ? route.fulfill(lost) : route.continue()
    })
    const photos = ['one', 'two', 'three'].map(photo)
    await page.locator('input[type=file]').first().setInputFiles(photos)
    await other.reads({ type: 'Group' })
    const rows = uploadsOf(page)
    await rows.nth(0).getByText('Sent: 2 files as one group').waitFor()
    await rows.nth(1).getByText('too large for the computer').waitFor()
    await rows.nth(2).getByText('Sent: 2 files as one group').waitFor()
    const wanted = { 'image.jpg': `${JPEG} one`, 'image (2).jpg': `${JPEG} three` }
    assert.deepEqual(await unzip(await other.download()), wanted)
  })

  it('refuses more files than the computer takes at once, and sends none of them', async (t) => {
    const { page } = await openPhonePage(t)
    const files = Array.from({ length: 501 }, (_, index) => photo(String(index)))
    await page.locator('input[type=file]').first().setInputFiles(files)
    await page.getByText('At most 500 files can be sent at once.').waitFor()
    assert.equal(await uploadsOf(page).count(), 0)
  })

  it('shows how far each file is, and takes those out of the list that are cancelled', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t)
    // Nobody answers for the film.
    await page.route('**/file/film.mp4', () => undefined)
    const buffer = Buffer.alloc(50_000, 'x')
    const files = ['film.mp4', 'photo.jpg'].map((name) => ({ name, mimeType: 'x/y', buffer }))
    await page.locator('input[type=file]').first().setInputFiles(files)
    await uploadsOf(page).first().getByText('0 bytes of 49 KiB').waitFor()
    await uploadsOf(page).nth(1).getByText('Waiting').waitFor()
    await page.getByRole('button', { name: 'Cancel: film.mp4' }).tap()
    await other.reads({ dataName: 'photo.jpg' })
    await uploadsOf(page).getByText('Sent').waitFor()
    assert.equal(await uploadsOf(page).count(), 1)
    await page.getByRole('button', { name: 'Remove from the list: photo.jpg' }).tap()
    assert.equal(await uploadsOf(page).count(), 0)
    assertCalm()
  })

  it('sends nothing that was cancelled while all of them wait for the computer', async (t) => {
    const { page, other } = await openPhonePage(t)
    let isBusy = true
    await page.route('**/Sync.json', (route) => {
      const isPush = route.request().method() === 'PUT'
      return isPush && isBusy ? route.fulfill({ status: 503 }) : route.continue()
    })
    const files = ['one', 'two', 'three'].map((name) => {
      return { name: `${name}.txt`, mimeType: '', buffer: Buffer.from(name) }
    })
    await page.locator('input[type=file]').first().setInputFiles(files)
    await uploadsOf(page).nth(2).getByText('The computer is busy').waitFor()
    await page.getByRole('button', { name: 'Cancel: two.txt' }).tap()
    isBusy = false
    await uploadsOf(page).nth(1).getByText('Sent: 2 files as one group').waitFor()
    const wanted = { 'one.txt': 'one', 'three.txt': 'three' }
    assert.deepEqual(await unzip(await other.download()), wanted)
  })

  it('says on top how far all files together are, and nothing when they have arrived', async (t) => {
    const { page, other, assertCalm } = await openPhonePage(t, {
      viewport: { width: 390, height: 500 },
    })
    await other.pushText('a line\n'.repeat(200))
    await page.getByText('a line').waitFor()
    await sendText(page, 'a text')
    await page.getByText('Sent', { exact: true }).waitFor()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/file/3.bin', async (route) => {
      await held
      await route.continue()
    })
    const files = [1, 2, 3, 4].map((number) => {
      return { name: `${number}.bin`, mimeType: '', buffer: Buffer.alloc(100_000 * number, 'x') }
    })
    await page.locator('input[type=file]').first().setInputFiles(files)
    const sum = page.getByText('2 of 4 files, 30 %')
    await sum.waitFor()
    assert.equal(await page.getByText('Sent', { exact: true }).count(), 0)
    for (const at of ['0', 'document.body.scrollHeight']) {
      await page.evaluate(`scrollTo(0, ${at})`)
      const { y = -1, height = 0 } = (await sum.boundingBox()) ?? {}
      assert.ok(y >= 0 && y + height <= 500, `it is at ${y}`)
    }
    await page.getByRole('button', { name: 'Cancel: 4.bin' }).tap()
    await page.getByText('2 of 3 files, 50 %').waitFor()
    release()
    await uploadsOf(page).nth(2).getByText('Sent: 3 files as one group').waitFor()
    assert.equal(await page.getByText(/ of \d files, \d/).isVisible(), false)
    // A text is newer than what was said of files.
    await sendText(page, 'another text')
    await page.getByText('Sent', { exact: true }).waitFor()
    assert.equal(await uploadsOf(page).count(), 0)
    assertCalm()
  })

  it('sends files that are pasted, and those that are dropped', async (t) => {
    const { page, other } = await openPhonePage(t)
    const give = (type: string) => `{
      const given = new DataTransfer()
      given.items.add(new File(['${type}'], '${type}.txt'))
      const init = { bubbles: true, cancelable: true, clipboardData: given, dataTransfer: given }
      const event = '${type}' === 'paste' ? new ClipboardEvent('paste', init) : new DragEvent('drop', init)
      document.querySelector('textarea').dispatchEvent(event)
    }`
    for (const type of ['paste', 'drop']) {
      await page.evaluate(give(type))
      await other.reads({ dataName: `${type}.txt` })
      assert.equal(String(await other.download()), type)
      // Files that come while others are on their way are a row of their own.
      await uploadsOf(page).last().getByText('Sent', { exact: true }).waitFor()
    }
    await page.evaluate(`{
      const dataTransfer = new DataTransfer()
      dataTransfer.setData('text/plain', 'a dropped text')
      document.dispatchEvent(new DragEvent('drop', { cancelable: true, dataTransfer }))
    }`)
    assert.equal(await page.getByRole('textbox').inputValue(), 'a dropped text')
    // Cells of a table come with a picture of them.
    const isLeft = await page.evaluate(`{
      const clipboardData = new DataTransfer()
      for (const type of ['text/plain', 'text/html']) clipboardData.setData(type, 'cells')
      clipboardData.items.add(new File(['png'], 'image.png', { type: 'image/png' }))
      const pasting = new ClipboardEvent('paste', { cancelable: true, clipboardData })
      document.querySelector('textarea').dispatchEvent(pasting)
    }`)
    assert.equal(isLeft, true)
    assert.equal(await uploadsOf(page).count(), 1)
    assert.equal(await page.locator('input[capture=environment][accept="image/*"]').count(), 1)
  })

  it('says what keeps the computer from taking something', async (t) => {
    const { page } = await openPhonePage(t)
    const rows = [
      [413, 'too large for the computer'],
      [429, 'The computer is busy'],
      [507, 'The disk of the computer is full'],
      [500, 'clipgate doctor'],
    ] as const
    for (const [status, words] of rows) {
      await page.route('**/Sync.json', (route) => {
        return route.request().method() === 'PUT' ? route.fulfill({ status }) : route.continue()
      })
      await sendText(page, 'a text')
      await page.getByText(words).waitFor()
      assert.equal(await page.getByRole('textbox').inputValue(), 'a text')
      await page.unroute('**/Sync.json')
    }
  })

  it('breaks off what it sends when the phone is forgotten', async (t) => {
    const { page } = await openPhonePage(t)
    // Nobody answers for the film.
    await page.route('**/file/film.mp4', () => undefined)
    const film = { name: 'film.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(50_000, 'x') }
    const begun = page.waitForRequest('**/file/film.mp4')
    await page.locator('input[type=file]').first().setInputFiles([film])
    await begun
    const ended = page.waitForEvent('requestfailed', (one) => one.url().endsWith('film.mp4'))
    await page.getByRole('button', { name: 'Sign out on this phone' }).tap()
    await page.getByRole('button', { name: 'Tap again' }).tap()
    assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED')
  })
})

describe('the phone page of a desktop', needs('chromium', 'Xvfb', 'xclip'), () => {
  it('says where the photos are, which lie in a folder and are pasted together', async (t) => {
    const { display } = await Xvfb.start(t)
    const opened = await openPhonePage(t, {}, { args: [], env: { DISPLAY: display } })
    const { page, daemon } = opened
    const received = join(daemon.folder, 'received')
    const words = 'Sent: on the clipboard and in received'
    const send = (...names: readonly string[]) =>
      page.locator('input[type=file]').first().setInputFiles(names.map(photo))
    await send('one')
    await uploadsOf(page).getByText(words, { exact: true }).waitFor()
    assert.deepEqual(await readFile(join(received, 'image.jpg')), photo('one').buffer)
    await pasteUntil(display, 'image/jpeg', photo('one').buffer)
    await send('two', 'three', 'four')
    await uploadsOf(page).nth(2).getByText(words, { exact: true }).waitFor()
    // What was said of the first one is old.
    assert.equal(await uploadsOf(page).count(), 3)
    const paths = [2, 3, 4].map((number) => join(received, `image (${number}).jpg`))
    const uris = paths.map((path) => `${pathToFileURL(path)}\r\n`).join('')
    await pasteUntil(display, 'text/uri-list', uris)
    for (const [index, word] of ['two', 'three', 'four'].entries()) {
      assert.deepEqual(await readFile(paths[index] ?? ''), photo(word).buffer)
    }
  })
})
