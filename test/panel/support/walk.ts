/** Walks through everything that the panel can show, for those who look at each of it. @module */

import type { Page } from 'playwright-core'
import { createItems, createRecent, DEVICES, HAPPENINGS, STATUS } from './samples.ts'
import { createShowroom, NOW, type Showroom } from './showroom.ts'

/** Looks at the window, or at the whole page. */
export type Visit = (name: string, part?: 'window' | 'page') => Promise<void>

/** @param page An empty one; it is left where nobody is signed in. */
export async function walkThroughPanel(page: Page, visit: Visit): Promise<void> {
  const room = await createShowroom()
  await room.open()
  // Ages stand still: the same each time.
  await page.clock.setFixedTime(NOW)
  room.told.status = STATUS
  await page.goto(await room.address())
  await page.getByText('No device yet').waitFor()
  await visit('empty', 'page')
  await visitItems(page, room, visit)
  await visitDialogs(page, room, visit)
  await visitTrouble(page, room, visit)
  room.close()
}

async function visitItems(page: Page, room: Showroom, visit: Visit): Promise<void> {
  room.told.devices = DEVICES
  room.panel.happenings.list = HAPPENINGS
  for (const [name, stored] of Object.entries(await createItems())) {
    const sender = { kind: 'device', deviceId: 'did_1' } as const
    room.panel.item = { ...stored, item: { ...stored.item, sender } }
    room.panel.receivedDir = '/home/ann/Downloads/clipgate'
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
    await visit(name, name === 'overview' ? 'page' : 'window')
  }
}

async function visitDialogs(page: Page, room: Showroom, visit: Visit): Promise<void> {
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await press('Add a device')
  await visit('add')
  await page.getByLabel('Name').fill('Ann’s phone')
  await press('Show QR code')
  await page.getByText('Waiting for the first request').waitFor()
  await visit('pairing')

  // What came is only looked at when a second has passed.
  await page.clock.setFixedTime(NOW + 40_000)
  await page.getByText('Check these').waitFor()
  await page.locator('.test').scrollIntoViewIfNeeded()
  await visit('checks')
  await page.clock.setFixedTime(NOW)

  const lastSeenAt = new Date(NOW).toISOString()
  const seen = { lastSeenAt, lastSeenAddress: '192.168.1.52', lastClient: 'SyncClipboard/2.8.4' }
  const { told, panel } = room
  told.devices = told.devices.map((one) => (one.id === 'did_new' ? { ...one, ...seen } : one))
  panel.change()
  await page.locator('.test[data-state=done]').waitFor()
  await page.locator('.test').scrollIntoViewIfNeeded()
  await visit('connected')
  await page.keyboard.press('Escape')
  for (const [button, name] of [
    ['New password for Pixel 9', 'rotate'],
    ['Remove Ann’s iPad', 'revoke'],
  ] as const) {
    await press(button)
    await visit(name)
    await page.keyboard.press('Escape')
  }
}

async function visitTrouble(page: Page, room: Showroom, visit: Visit): Promise<void> {
  await page.getByRole('button', { name: 'Pause for 1 hour' }).click()
  await page.getByRole('button', { name: 'Resume now' }).waitFor()
  await visit('paused', 'page')
  await page.getByRole('button', { name: 'Resume now' }).click()
  const clipboardError = 'The X server has closed the connection; trying again'
  room.told.status = { ...STATUS, clipboardError }
  room.panel.change()
  await page.getByRole('heading', { name: 'The system clipboard cannot be used' }).waitFor()
  await visit('trouble')
  room.told.status = STATUS
  room.panel.change()
  await page.getByRole('heading', { name: 'cannot be used' }).waitFor({ state: 'detached' })
  room.close()
  await page.getByRole('heading', { name: 'clipgate does not answer' }).waitFor()
  await visit('away')
  await page.evaluate('sessionStorage.clear()')
  await room.open()
  await page.getByText('clipgate panel', { exact: true }).waitFor()
  await visit('signed-out')
}
