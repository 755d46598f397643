import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { PNG } from 'pngjs'
import { assertAccessible } from '../panel/support/audit.ts'
import { zipOf } from '../support/make-zip.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'
import { openPhonePage, type OpenPhonePage, sendText } from './support/phone-page.ts'

const TEXT = `${'a line\n'.repeat(99)}https://example.org/`

/** Looks at what is there, by day and by night. */
function lookerAt({ page }: OpenPhonePage) {
  return async (state: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await assertAccessible(page, `${state}, ${colorScheme}`)
    }
  }
}

async function visitItems(opened: OpenPhonePage): Promise<void> {
  const { page, other } = opened
  const look = lookerAt(opened)
  await page.getByText('Nothing there yet').waitFor()
  await look('empty')
  await other.pushText('short')
  await page.getByRole('button', { name: 'Show as code' }).tap()
  await page.getByRole('img', { name: 'This text as a QR code' }).waitFor()
  await look('a code')
  await other.pushText(TEXT)
  await page.getByRole('link', { name: 'Open example.org' }).waitFor()
  await look('a long text')
  const png = PNG.sync.write(new PNG({ width: 40, height: 30 }))
  await other.pushFile('Image', 'picture.png', png)
  await page.getByRole('img', { name: 'The image on the clipboard' }).waitFor()
  await look('a picture')
  const files = ['one.txt', 'two.txt'].map((name) => ({ name, content: Buffer.alloc(999) }))
  await other.pushFile('Group', 'several.zip', zipOf(...files))
  await page.getByRole('button', { name: 'Save all' }).waitFor()
  await look('several files')
  await other.pushFile('File', 'film.mp4', Buffer.alloc(9))
  await page.getByRole('heading').getByText('Clipboard').waitFor()
  await page.getByText('Recent items').tap()
  for (const summary of await page.locator('.recent summary').all()) await summary.tap()
  await page.locator('.recent').getByRole('img').waitFor()
  await page.getByText('Use another app').tap()
  await page.getByRole('button', { name: 'Sign out on this phone' }).tap()
  await look('everything opened')
}

async function visitSending(opened: OpenPhonePage): Promise<void> {
  const { page } = opened
  const look = lookerAt(opened)
  await page.route('**/Sync.json', (route) =>
    route.request().method() === 'PUT' ? route.fulfill({ status: 507 }) : route.continue(),
  )
  await sendText(page, 'a text')
  await page.getByText('The disk of the computer is full').waitFor()
  await look('a failure')
  await page.route('**/file/film.mp4', () => undefined)
  const files = ['photo.jpg', 'film.mp4', 'notes.txt'].map((name) => {
    return { name, mimeType: 'x/y', buffer: Buffer.alloc(50_000, 'x') }
  })
  await page.locator('input[type=file]').first().setInputFiles(files)
  await page.getByText('1 of 3 files, 33 %').waitFor()
  await look('sending')
}

async function openPaused(t: TestContext): Promise<OpenPhonePage> {
  const { display } = await Xvfb.start(t)
  const viewport = { width: 320, height: 568 }
  const opened = await openPhonePage(t, { viewport }, { args: [], env: { DISPLAY: display } })
  await opened.daemon.run('pause')
  await opened.page.getByText('The computer has paused sharing').waitFor()
  return opened
}

describe(
  'the phone page is readable and has names for everything',
  needs('chromium', 'Xvfb'),
  () => {
    it('whatever it shows, by day and by night', async (t) => {
      const opened = await openPhonePage(t)
      await visitItems(opened)
      await visitSending(opened)
      const { page, daemon, device } = opened
      const look = lookerAt(opened)
      await daemon.run('revoke', device.id)
      await page.getByText('This phone was disconnected').waitFor()
      await look('removed')
      await page.goto(`${page.url()}#damaged`)
      await page.getByText('This code cannot be read').waitFor()
      await look('a damaged code')
      await page.reload()
      await page.getByText('Connect this phone').waitFor()
      await look('no code')
      opened.assertCalm()
    })

    it('in a narrow window, while sharing is paused, and when the computer is away', async (t) => {
      const opened = await openPaused(t)
      const look = lookerAt(opened)
      await look('paused')
      assert.equal(await opened.daemon.stop(), 0)
      await opened.page.locator('[data-way=away]').waitFor()
      await look('away')
      opened.assertCalm()
    })
  },
)
