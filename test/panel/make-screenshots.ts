/**
 * Makes the pictures in `docs/images/`: each state of the panel in light, dark and narrow.
 * @module
 */

import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { closeBrowser, openPage } from './support/browser.ts'
import { createItems, createRecent, DEVICES, HAPPENINGS, STATUS } from './support/samples.ts'
import { createShowroom, NOW, type Showroom } from './support/showroom.ts'

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url))

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1040, height: 720 } },
  dark: { colorScheme: 'dark', viewport: { width: 1040, height: 720 } },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 720 } },
}

/** Takes a picture of the window, or of the whole page. */
type Shoot = (name: string, part?: 'window' | 'page') => Promise<void>

async function shootAll(look: string, options: BrowserContextOptions): Promise<void> {
  const room = createShowroom()
  await room.open()
  const { page } = await openPage({ ...options, locale: 'en-GB', timezoneId: 'UTC' })
  // Ages stand still: the same pictures each time.
  await page.clock.setFixedTime(NOW)
  const shoot: Shoot = async (name, part = 'window') => {
    // Nothing should look as if the mouse were there.
    await page.mouse.move(0, 0)
    if ((await page.getByRole('dialog').count()) === 0) await page.evaluate('scrollTo(0, 0)')
    const path = `${FOLDER}${name}-${look}.png`
    const fullPage = part === 'page'
    await page.screenshot({ path, fullPage, animations: 'disabled', caret: 'hide' })
  }
  room.told.status = STATUS
  await page.goto(await room.address())
  await page.getByText('No device yet').waitFor()
  await shoot('empty', 'page')
  await shootItems(page, room, shoot)
  await shootDialogs(page, room, shoot)
  await shootTrouble(page, room, shoot)
  room.close()
  await page.context().close()
}

async function shootItems(page: Page, room: Showroom, shoot: Shoot): Promise<void> {
  room.told.devices = DEVICES
  room.panel.happenings.list = HAPPENINGS
  for (const [name, stored] of Object.entries(await createItems())) {
    room.panel.item = stored
    room.panel.receivedDir = '/home/ann/Downloads/clipgate'
    room.panel.recent.sender = { kind: 'device', deviceId: 'did_1' }
    room.panel.recent.list = name === 'overview' ? createRecent(stored.item.activatedAt) : []
    room.panel.change()
    const { type, dataName } = stored.item
    const heading = dataName === '' ? type : dataName
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    if (name === 'overview')
      await page
        .locator('.recent')
        .getByText(/git rebase/)
        .waitFor()
    if (type === 'Text') await page.locator('.preview pre').waitFor()
    if (type === 'Image') {
      await page.waitForFunction(`document.querySelector('.preview img')?.naturalWidth > 0`)
    }
    await shoot(name, name === 'overview' ? 'page' : 'window')
  }
}

async function shootDialogs(page: Page, room: Showroom, shoot: Shoot): Promise<void> {
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await press('Add a device')
  await shoot('add')
  await page.getByLabel('Name').fill('Ann’s phone')
  await press('Show QR code')
  await page.getByText('Waiting for the first request').waitFor()
  await shoot('pairing')

  // What came is only looked at when a second has passed.
  await page.clock.setFixedTime(NOW + 40_000)
  await page.getByText('Check these').waitFor()
  await page.locator('.test').scrollIntoViewIfNeeded()
  await shoot('checks')
  await page.clock.setFixedTime(NOW)

  const lastSeenAt = new Date(NOW).toISOString()
  const seen = { lastSeenAt, lastSeenAddress: '192.168.1.52', lastClient: 'SyncClipboard/2.8.4' }
  const { told, panel } = room
  told.devices = told.devices.map((one) => (one.id === 'did_new' ? { ...one, ...seen } : one))
  panel.change()
  await page.locator('.test[data-state=done]').waitFor()
  await page.locator('.test').scrollIntoViewIfNeeded()
  await shoot('connected')
  await page.keyboard.press('Escape')
  for (const [button, name] of [
    ['New password for Pixel 9', 'rotate'],
    ['Remove Ann’s iPad', 'revoke'],
  ] as const) {
    await press(button)
    await shoot(name)
    await page.keyboard.press('Escape')
  }
}

async function shootTrouble(page: Page, room: Showroom, shoot: Shoot): Promise<void> {
  await page.getByRole('button', { name: 'Pause for 1 hour' }).click()
  await page.getByRole('button', { name: 'Resume now' }).waitFor()
  await shoot('paused', 'page')
  await page.getByRole('button', { name: 'Resume now' }).click()
  const clipboardError = 'The X server has closed the connection; trying again'
  room.told.status = { ...STATUS, clipboardError }
  room.panel.change()
  await page.getByRole('heading', { name: 'The system clipboard cannot be used' }).waitFor()
  await shoot('trouble')
  room.told.status = STATUS
  room.panel.change()
  await page.getByRole('heading', { name: 'cannot be used' }).waitFor({ state: 'detached' })
  room.close()
  await page.getByRole('heading', { name: 'clipgate does not answer' }).waitFor()
  await shoot('away')
  await page.evaluate('sessionStorage.clear()')
  await room.open()
  await page.getByText('clipgate panel', { exact: true }).waitFor()
  await shoot('signed-out')
}

for (const [look, options] of Object.entries(LOOKS)) await shootAll(look, options)
await closeBrowser()
