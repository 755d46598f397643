import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { PNG } from 'pngjs'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { holdRequests, itemOf, openPanel, openWithPhone, type OpenPanel } from './support/panel.ts'

/** A phone is paired already. */
const PIXEL = { devices: ['Pixel'] }

const WITH_CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] }

/** What the clipboard of the browser holds, as numbers: of a text, or of the pixels of a picture. */
const READ_PICTURE = `(async () => {
  const [item] = await navigator.clipboard.read()
  const bitmap = await createImageBitmap(await item.getType('image/png'))
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d')
  context.drawImage(bitmap, 0, 0)
  return [bitmap.width, bitmap.height, ...context.getImageData(0, 0, 1, 1).data]
})()`

function pushOf({ page }: OpenPanel): Locator {
  return page.getByRole('region', { name: 'Send something' })
}

describe('what the panel does with the item', needs('chromium'), () => {
  it('copies all of a text, and shows all of it', async (t) => {
    const panel = await openPanel(t, { ...PIXEL, browser: WITH_CLIPBOARD })
    const phone = await panel.pairPhone('Pixel')
    const text = `${'ä'.repeat(5000)} the end`
    await phone.pushText(text)
    const item = itemOf(panel)
    await item.getByText('from Pixel').waitFor()
    await item.getByRole('button', { name: 'Copy' }).click()
    await item.getByText('Copied.').waitFor()
    assert.equal(await panel.page.evaluate('navigator.clipboard.readText()'), text)
    await item.getByRole('button', { name: 'Show all of it' }).click()
    await item.getByText('Only the beginning').waitFor({ state: 'detached' })
    assert.equal(await item.locator('pre').textContent(), text)
    panel.assertCalm()
  })

  it('copies a picture, and saves it', async (t) => {
    const panel = await openPanel(t, { ...PIXEL, browser: WITH_CLIPBOARD })
    const phone = await panel.pairPhone('Pixel')
    const png = new PNG({ width: 3, height: 2 })
    png.data.fill(255)
    const bytes = PNG.sync.write(png)
    await phone.pushFile('Image', 'a dot.png', bytes)
    const item = itemOf(panel)
    await item.getByRole('button', { name: 'Copy' }).click()
    await item.getByText('Copied.').waitFor()
    assert.deepEqual(await panel.page.evaluate(READ_PICTURE), [3, 2, 255, 255, 255, 255])
    const saving = panel.page.waitForEvent('download')
    await item.getByRole('button', { name: 'Save' }).click()
    const saved = await saving
    assert.equal(saved.suggestedFilename(), 'a dot.png')
    assert.ok((await readFile(await saved.path())).equals(bytes))
    panel.assertCalm()
  })

  it('saves by a way that ends when all browsers are signed out', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushFile('File', 'notes.txt', Buffer.from('x'))
    const saving = panel.page.waitForEvent('download')
    await itemOf(panel).getByRole('button', { name: 'Save' }).click()
    const url = (await saving).url()
    assert.match(url, /\/clipboard\/tickets\/owner\./)
    const answer = await fetch(url)
    assert.equal(await answer.text(), 'x')
    assert.match(String(answer.headers.get('content-disposition')), /^attachment; .*notes\.txt/)
    assert.equal((await fetch(url, { headers: { Origin: 'http://evil.example' } })).status, 403)
    assert.equal((await fetch(`${url}x`)).status, 404)
    assert.equal((await fetch(url, { method: 'POST' })).status, 401)

    await phone.pushFile('File', 'film.bin', Buffer.alloc(32 * 2 ** 20))
    await itemOf(panel).getByRole('heading', { name: 'film.bin' }).waitFor()
    const savingFilm = panel.page.waitForEvent('download')
    await itemOf(panel).getByRole('button', { name: 'Save' }).click()
    const ofFilm = (await savingFilm).url()
    const underWay = await fetch(ofFilm)
    await panel.page.getByRole('button', { name: 'Sign out all browsers' }).click()
    await panel.page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await panel.page.getByText('Not signed in', { exact: true }).waitFor()
    await assert.rejects(underWay.arrayBuffer())
    assert.equal((await fetch(ofFilm)).status, 404)
  })

  it('saves nothing but the item that it shows, and from nowhere else', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushFile('File', 'notes.txt', Buffer.from('x'))
    const { contentId } = await phone.document()
    const save = itemOf(panel).getByRole('button', { name: 'Save' })
    const answers = [
      [{ path: '/clipboard/tickets/x', contentId: 'another' }, 'Something else is current by now.'],
      [{ path: '//localhost:1/x', contentId }, 'clipgate does not answer.'],
    ] as const
    for (const [answer, words] of answers) {
      await panel.page.route('**/clipboard/tickets', (route) => route.fulfill({ json: answer }))
      await save.click()
      await itemOf(panel).getByText(words).waitFor()
      await panel.page.unroute('**/clipboard/tickets')
    }
    assert.match(panel.page.url(), /^http:\/\/127\.0\.0\.1:/)
  })

  it('says so when the browser does not let it copy, and offers of a file what can be done with it', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    await phone.pushText('x')
    await panel.page.evaluate(
      `navigator.clipboard.write = () => Promise.reject(new DOMException('', 'NotAllowedError'))`,
    )
    await itemOf(panel).getByRole('button', { name: 'Copy' }).click()
    await itemOf(panel).getByText('This browser does not let the page copy').waitFor()
    panel.assertCalm()

    await phone.pushFile('File', 'notes.txt', Buffer.from('x'))
    await itemOf(panel).getByRole('button', { name: 'Save' }).waitFor()
    assert.equal(await itemOf(panel).getByRole('button', { name: 'Copy' }).isVisible(), false)
    // This daemon has no desktop, and so no folder to open.
    const folder = itemOf(panel).getByRole('button', { name: 'Open folder' })
    assert.equal(await folder.isVisible(), false)
  })
})

describe('sending from the panel', needs('chromium'), () => {
  it('sends files that are chosen, one after the other', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const folder = await temporaryFolder(t)
    const paths = ['a.txt', 'b <1>.txt'].map((name) => join(folder, name))
    for (const path of paths) await writeFile(path, `bytes of ${path}`)
    await pushOf(panel).locator('input[type=file]').setInputFiles(paths)
    await pushOf(panel).getByText('b <1>.txt was sent.').waitFor()
    assert.equal((await phone.document())['dataName'], 'b <1>.txt')
    const bytes = await (await phone.fetch('/file/b%20%3C1%3E.txt')).text()
    assert.equal(bytes, `bytes of ${paths[1]}`)
    const recent = panel.page.getByRole('region', { name: 'Recent items' })
    await recent.getByText('a.txt').waitFor()
    panel.assertCalm()
  })

  it('goes on with a long file after a break', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const asked: string[] = []
    await panel.page.route('**/clipboard/file-uploads/*', (route) => {
      asked.push(route.request().method())
      return asked.length === 1 ? route.abort() : route.continue()
    })
    const film = { name: 'film.mp4', mimeType: '', buffer: randomBytes(9 * 2 ** 20) }
    await pushOf(panel).locator('input[type=file]').setInputFiles(film)
    await pushOf(panel).getByText('film.mp4 was sent.').waitFor()
    assert.deepEqual(asked, ['PATCH', 'HEAD', 'PATCH'])
    const bytes = Buffer.from(await (await phone.fetch('/file/film.mp4')).arrayBuffer())
    assert.ok(bytes.equals(film.buffer))
  })

  it('waits where clipgate is busy when all of a file is there, and says nothing of what came before', async (t) => {
    const panel = await openPanel(t)
    let busy = 1
    await panel.page.route('**/clipboard/Sync.json', (route) => {
      return busy-- > 0 ? route.fulfill({ status: 503 }) : route.continue()
    })
    const file = { name: 'a.txt', mimeType: '', buffer: Buffer.from('a file') }
    await pushOf(panel).locator('input[type=file]').setInputFiles(file)
    await pushOf(panel).getByText('a.txt was sent.').waitFor()
    busy = 1
    await pushOf(panel).getByLabel('Text to send').fill('a text')
    await pushOf(panel).getByRole('button', { name: 'Send', exact: true }).click()
    await pushOf(panel).getByText('It was not sent: clipgate answered with status 503.').waitFor()
    assert.equal(await pushOf(panel).getByText('was sent.').count(), 0)
  })

  it('leaves nothing of a file that is cancelled', async (t) => {
    const panel = await openPanel(t, PIXEL)
    await panel.page.route('**/clipboard/file-uploads/*', async (route) => {
      if (route.request().method() === 'DELETE') await route.continue()
    })
    const film = { name: 'film.mp4', mimeType: '', buffer: Buffer.alloc(9 * 2 ** 20) }
    await pushOf(panel).locator('input[type=file]').setInputFiles(film)
    const gone = panel.page.waitForResponse((response) => response.request().method() === 'DELETE')
    await pushOf(panel).getByText('Sending film.mp4').waitFor()
    await pushOf(panel).getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await gone).status(), 204)
    await pushOf(panel).getByText('Sending').waitFor({ state: 'detached' })
    await pushOf(panel).getByLabel('Text to send').fill('next')
    await pushOf(panel).getByRole('button', { name: 'Send', exact: true }).click()
    await pushOf(panel).getByText('The text was sent.').waitFor()
  })

  it('sends what is typed, and what is dropped or pasted anywhere', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const field = pushOf(panel).getByLabel('Text to send')
    await field.fill('two\nlines')
    await field.press('Control+Enter')
    await pushOf(panel).getByText('The text was sent.').waitFor()
    assert.equal((await phone.document())['text'], 'two\nlines')
    assert.equal(await field.inputValue(), '')
    await itemOf(panel).getByText('pushed on this computer').waitFor()

    const bring = (type: 'drop' | 'paste', fill: string): Promise<unknown> =>
      panel.page.evaluate(`{
        const data = new DataTransfer()
        ${fill}
        const how = { bubbles: true, cancelable: true }
        document.body.dispatchEvent('${type}' === 'drop'
          ? new DragEvent('drop', { ...how, dataTransfer: data })
          : new ClipboardEvent('paste', { ...how, clipboardData: data }))
      }`)
    await bring('drop', `data.items.add(new File(['dropped'], 'dropped.txt'))`)
    await pushOf(panel).getByText('dropped.txt was sent.').waitFor()
    assert.equal(await (await phone.fetch('/file/dropped.txt')).text(), 'dropped')
    await bring('paste', `data.setData('text/plain', 'pasted')`)
    await pushOf(panel).getByText('The text was sent.').waitFor()
    assert.equal((await phone.document())['text'], 'pasted')
    // Cells of a table come with a picture of them.
    const cells = ['plain', 'html'].map((type) => `data.setData('text/${type}', 'cells')`).join()
    await bring('paste', `${cells}; data.items.add(new File(['png'], 'cells.png'))`)
    await pushOf(panel).getByText('was sent.').waitFor()
    assert.equal((await phone.document())['text'], 'cells')
    panel.assertCalm()
  })

  it('has a text that is dragged into its field there', async (t) => {
    const { page, assertCalm } = await openPanel(t)
    const title = page.getByRole('heading', { level: 1 })
    await title.selectText()
    const dropped = page.evaluate(
      `new Promise((resolve) => addEventListener('dragend', resolve)).then(() => undefined)`,
    )
    await title.dragTo(page.locator('textarea'))
    await dropped
    assert.equal(await page.locator('textarea').inputValue(), 'clipgate')
    assertCalm()
  })

  it('sends nothing when a link of its own slips, but a file that is dragged in next', async (t) => {
    const panel = await openPanel(t)
    const { page, assertCalm } = panel
    // Outside the window, where the file comes from, the page sees no mouse.
    const dropped = page.evaluate(`new Promise((resolve) => addEventListener('dragend', resolve))
      .then(() => {
        const data = new DataTransfer()
        data.items.add(new File(['next'], 'next.txt'))
        const how = { bubbles: true, cancelable: true, dataTransfer: data }
        document.body.dispatchEvent(new DragEvent('drop', how))
      })`)
    await page
      .getByRole('link', { name: 'New tab' })
      .dragTo(page.getByRole('heading', { level: 1 }))
    await dropped
    await itemOf(panel).getByText('next.txt').first().waitFor()
    // What was current before would be here.
    assert.equal(await page.getByRole('heading', { name: 'Recent items' }).isVisible(), false)
    assertCalm()
  })

  it('sends a file that is chosen while a text is on its way', async (t) => {
    const panel = await openPanel(t)
    const release = await holdRequests(panel.page, '**/clipboard/Sync.json')
    await pushOf(panel).getByLabel('Text to send').fill('a text')
    await pushOf(panel).getByRole('button', { name: 'Send', exact: true }).click()
    const file = { name: 'a.txt', mimeType: '', buffer: Buffer.from('a file') }
    await pushOf(panel).locator('input[type=file]').setInputFiles(file)
    release()
    await itemOf(panel).getByRole('heading', { name: 'a.txt' }).waitFor()
    panel.assertCalm()
  })

  it('sends what is typed at once while a file is on its way, and no words that come later', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const release = await holdRequests(panel.page, '**/clipboard/file/a.txt')
    const file = { name: 'a.txt', mimeType: '', buffer: Buffer.from('a file') }
    await pushOf(panel).locator('input[type=file]').setInputFiles(file)
    await pushOf(panel).getByText('Sending a.txt').waitFor()
    const field = pushOf(panel).getByLabel('Text to send')
    await field.fill('a text')
    await field.press('Control+Enter')
    await pushOf(panel).getByText('The text was sent.').waitFor()
    assert.equal((await phone.document())['text'], 'a text')
    await field.fill('half a thought')
    release()
    await pushOf(panel).getByText('a.txt was sent.').waitFor()
    assert.equal(await field.inputValue(), 'half a thought')
    panel.assertCalm()
  })

  it('sends the rest where a file is gone when its turn comes', async (t) => {
    const panel = await openPanel(t)
    const folder = await temporaryFolder(t)
    const [first = '', gone = '', last = ''] = ['a', 'gone', 'c'].map((name) => join(folder, name))
    for (const path of [first, gone, last]) await writeFile(path, 'bytes')
    const release = await holdRequests(panel.page, '**/clipboard/file/a')
    await pushOf(panel).locator('input[type=file]').setInputFiles([first, gone, last])
    await pushOf(panel).getByText('Sending a').waitFor()
    await rm(gone)
    release()
    await pushOf(panel).getByText('c was sent.').waitFor()
    await pushOf(panel).getByText('gone: ').waitFor()
  })

  it('takes nothing for sent that somebody else has answered', async (t) => {
    const { panel, phone } = await openWithPhone(t)
    const { page } = panel
    await phone.pushText('before')
    const field = pushOf(panel).getByLabel('Text to send')
    await field.fill('not lost')
    for (const body of ['', '<!doctype html><title>Free Wi-Fi</title>', '{}', '[]', 'null']) {
      await page.route('**/clipboard/Sync.json', (route) => route.fulfill({ status: 200, body }))
      const answered = page.waitForResponse('**/clipboard/Sync.json')
      await field.press('Control+Enter')
      await answered
      await pushOf(panel).getByRole('alert').getByText('clipgate does not answer.').waitFor()
      assert.equal(await field.inputValue(), 'not lost', body)
      await page.unroute('**/clipboard/Sync.json')
    }
    assert.equal((await phone.document())['text'], 'before')
    await field.press('Control+Enter')
    await pushOf(panel).getByText('The text was sent.').waitFor()
    assert.equal((await phone.document())['text'], 'not lost')
    panel.assertCalm()
  })

  it('says why something was not sent, and sends what was chosen with it', async (t) => {
    const args = ['--clipboard', 'none', '--max-file-bytes', '10']
    const panel = await openPanel(t, { args })
    const files = ['a.bin', 'long.bin', 'b.bin'].map((name) => {
      return { name, mimeType: '', buffer: Buffer.alloc(name.length + 4) }
    })
    await pushOf(panel).locator('input[type=file]').setInputFiles(files)
    const words = 'long.bin: It was not sent: it is longer than clipgate takes.'
    await pushOf(panel).getByText(words, { exact: true }).waitFor()
    await pushOf(panel).getByText('b.bin was sent.').waitFor()
    const recent = panel.page.getByRole('region', { name: 'Recent items' })
    await recent.getByRole('heading', { name: 'a.bin' }).waitFor()
    assert.equal(await pushOf(panel).getByText('Sending').count(), 0)
    panel.assertCalm()
  })
})
