/**
 * A real daemon whose phone page is open in a real browser with the screen of a phone, at an
 * address that the browser does not trust, as that of a desktop is.
 * @module
 */

import { after, type TestContext } from 'node:test'
import { devices, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import {
  closeBrowser,
  INSECURE_HOST,
  openPage,
  type WatchedPage,
} from '../../panel/support/browser.ts'
import { startDaemon } from '../../panel/support/panel.ts'
import type { DaemonOptions, DaemonProcess, PairedDevice } from '../../support/daemon-process.ts'
import type { Phone } from '../../support/phone.ts'

// Once for each test file.
after(closeBrowser)

export interface OpenPhonePage extends WatchedPage {
  readonly daemon: DaemonProcess
  readonly device: PairedDevice
  /** What the camera reads. */
  readonly address: string
  /** Somebody else with a clipboard there. */
  readonly other: Phone
}

/** A daemon, a phone, and the page in it, which shows that it is live. */
export async function openPhonePage(
  t: TestContext,
  options: BrowserContextOptions = {},
  daemonOptions: DaemonOptions = {},
): Promise<OpenPhonePage> {
  const daemon = await startDaemon(t, { devices: ['Pixel', 'Other'], ...daemonOptions })
  const { gateway } = daemon.ready
  const device = await daemon.pair('Pixel')
  const other = await daemon.phone('Other')
  const address = addressOf(device, gateway)
  const watched = await openPage({ ...devices['Pixel 7'], ...options })
  t.after(() => watched.page.context().close())
  await watched.page.goto(address)
  await watched.page.locator('[data-way=live]').waitFor()
  return { daemon, device, address, other, ...watched }
}

/** The rows of what the page sends, one of each file. */
export function uploadsOf(page: Page): Locator {
  return page.locator('.uploads').getByRole('listitem')
}

/** Types a text into the page, and sends it. */
export async function sendText(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox').fill(text)
  await page.getByRole('button', { name: 'Send', exact: true }).tap()
}

/** The address in the code of a device. */
export function addressOf({ link }: PairedDevice, gateway: string): string {
  const payload = new URL(link).searchParams.get('p')
  return `http://${INSECURE_HOST}:${new URL(gateway).port}/phone#${payload}`
}

/**
 * Lets time pass in a page, whose clock was installed, until something has happened: it waits before
 * it asks again.
 */
export async function passUntil(page: Page, happening: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = happening.finally(() => (isOver = true))
  while (!isOver) await page.clock.runFor(250)
  await over
}
