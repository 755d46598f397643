/**
 * Makes the pictures of the phone page in `docs/images/`.
 * @module
 */

import { it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions } from 'playwright-core'
import { PNG } from 'pngjs'
import { zipOf } from '../support/make-zip.ts'
import { openPhonePage, type OpenPhonePage } from './support/phone-page.ts'

const FOLDER = process.env['SHOTS'] ?? fileURLToPath(new URL('../../docs/images/', import.meta.url))

const TEXT = 'Platform 4, 17:42. Bring the tickets!\n\nhttps://example.org/timetable?from=north'

/** Hills under an evening sky. */
function paint(): Buffer {
  const png = new PNG({ width: 800, height: 600 })
  for (let at = 0; at < 800 * 600; at++) {
    const [x, y] = [at % 800, Math.floor(at / 800)]
    const near = 430 + 60 * Math.sin(x / 130)
    const far = 360 + 50 * Math.sin(x / 90 + 2)
    const isSun = Math.hypot(x - 560, y - 250) < 70
    const sky = [250 - (y >> 5) * 2, 150 + (y >> 5) * 6, 110 + (y >> 5) * 4]
    const colour = y > near ? [24, 64, 62] : y > far ? [46, 106, 98] : isSun ? [255, 226, 150] : sky
    png.data.set([...colour, 255], at * 4)
  }
  return PNG.sync.write(png)
}

/** What is on the clipboard, and how the page looks then. */
const PICTURES: Readonly<
  Record<
    string,
    { options: BrowserContextOptions; prepare: (phone: OpenPhonePage) => Promise<void> }
  >
> = {
  'phone-text': {
    options: { colorScheme: 'light' },
    prepare: async ({ page, other }) => {
      await other.pushText(TEXT)
      await page.getByText('Platform 4').waitFor()
    },
  },
  'phone-picture': {
    options: { colorScheme: 'dark' },
    prepare: async ({ page, other }) => {
      await other.pushFile('Image', 'Evening.png', paint())
      await page.getByRole('img').waitFor()
      await page.evaluate(`document.querySelector('img').decode()`)
    },
  },
  'phone-sending': {
    options: { colorScheme: 'light' },
    prepare: async ({ page, other }) => {
      await other.pushFile('File', 'Report 2026.pdf', Buffer.alloc(2_345_678, 'x'))
      await page.getByText('Report 2026.pdf').waitFor()
      const session = await page.context().newCDPSession(page)
      const speed = {
        uploadThroughput: 400_000,
        downloadThroughput: -1,
        latency: 0,
        offline: false,
      }
      await session.send('Network.emulateNetworkConditions', speed)
      const files = [
        { name: 'Photo.jpg', mimeType: 'image/jpeg', buffer: Buffer.alloc(320_000, 'x') },
        { name: 'Film.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(4_000_000, 'x') },
        { name: 'Notes.txt', mimeType: 'text/plain', buffer: Buffer.alloc(900, 'x') },
      ]
      await page.locator('input[type=file]').first().setInputFiles(files)
      await page.getByText(/^[12].* MiB of 3[.]8 MiB, /).waitFor()
    },
  },
  'phone-group': {
    options: { colorScheme: 'dark' },
    prepare: async ({ page, other }) => {
      const files = [
        { name: 'IMG_0001.jpg', content: Buffer.alloc(2_345_678) },
        { name: 'IMG_0002.jpg', content: Buffer.alloc(1_987_654) },
        { name: 'Notes.txt', content: Buffer.alloc(900) },
      ]
      await other.pushFile('Group', 'Trip.zip', zipOf(...files))
      await page.getByRole('button', { name: 'Save all' }).waitFor()
    },
  },
  'phone-away': {
    options: { colorScheme: 'dark', locale: 'zh-CN' },
    prepare: async ({ page, daemon, other }) => {
      await other.pushText('周五晚上七点，老地方见。')
      await page.getByText('周五晚上七点').waitFor()
      await daemon.stop()
      await page.locator('[data-way=away]').waitFor()
    },
  },
  'phone-narrow': {
    options: { colorScheme: 'light', locale: 'zh-CN', viewport: { width: 320, height: 568 } },
    prepare: async ({ page, other }) => {
      const name = '二〇二六年第三季度销售报告（最终版，已审核，请勿转发）.pdf'
      await other.pushFile('File', name, Buffer.alloc(2_345_678, 'x'))
      await page.getByText(name).waitFor()
      await page.locator('summary').last().click()
    },
  },
  'phone-removed': {
    options: { colorScheme: 'light' },
    prepare: async ({ page, daemon, device }) => {
      await daemon.run('revoke', device.id)
      await page.locator('[data-way=refused]').waitFor()
    },
  },
}

async function shoot(t: TestContext, name: string): Promise<void> {
  const { options, prepare } = PICTURES[name] ?? {}
  const looks = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.25, locale: 'en-GB' }
  const phone = await openPhonePage(t, { ...looks, ...options })
  await prepare?.(phone)
  const path = `${FOLDER}${name}.png`
  await phone.page.screenshot({ path, fullPage: true, animations: 'disabled', caret: 'hide' })
}

for (const name of Object.keys(PICTURES)) it(name, (t) => shoot(t, name))
