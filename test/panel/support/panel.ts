/**
 * A real daemon with its panel open in a real browser.
 * @module
 */

import { after, type TestContext } from 'node:test'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { parseConnectLink, type ParsedLink } from '../../../src/link/connect-link.ts'
import {
  startDaemonProcess,
  type DaemonOptions,
  type DaemonProcess,
} from '../../support/daemon-process.ts'
import { defer } from '../../support/defer.ts'
import { ownerOf } from '../../support/owner.ts'
import { createPhone, type Phone } from '../../support/phone.ts'
import { closeBrowser, openPage, type WatchedPage } from './browser.ts'

// Once for each test file.
after(closeBrowser)

export interface OpenPanel extends WatchedPage {
  readonly daemon: DaemonProcess
  /** Pairs a phone in the terminal. */
  pairPhone(label: string): Promise<Phone>
}

/** A daemon that leaves the clipboard of this machine alone. */
export function startDaemon(t: TestContext, options: DaemonOptions = {}): Promise<DaemonProcess> {
  return startDaemonProcess(t, { ...options, args: options.args ?? ['--clipboard', 'none'] })
}

/** The address that opens the panel, as `clipgate panel --print` prints it. */
export async function panelAddress(daemon: DaemonProcess): Promise<string> {
  return (await ownerOf(daemon)).panelUrl()
}

/** Signs a page in, and waits until it shows something. */
export async function enter(page: Page, daemon: DaemonProcess): Promise<void> {
  await page.goto(await panelAddress(daemon))
  await page.locator('html[data-link=live]').waitFor()
}

/** A daemon, a browser, and the panel in it. */
export async function openPanel(
  t: TestContext,
  options: DaemonOptions & { readonly browser?: BrowserContextOptions } = {},
): Promise<OpenPanel> {
  const daemon = await startDaemon(t, options)
  const watched = await openPage(options.browser)
  t.after(() => watched.page.context().close())
  await enter(watched.page, daemon)
  return { daemon, ...watched, pairPhone: daemon.phone }
}

/** A panel, and a phone of its daemon. */
export async function openWithPhone(t: TestContext) {
  const panel = await openPanel(t, { devices: ['Pixel'] })
  return { panel, phone: await panel.pairPhone('Pixel') }
}

/** What the panel shows of the current item. */
export function itemOf({ page }: Pick<OpenPanel, 'page'>): Locator {
  return page.getByRole('region', { name: 'Current item' })
}

/** The row of a device. */
export function deviceRow(page: Page, label: string): Locator {
  const name = page.getByRole('heading', { name: label, exact: true })
  return page.getByRole('listitem').filter({ has: name })
}

/** What a code or a link holds: a connect link, or the page with its payload or with a login. */
export function parseCode(text: string): Pick<ParsedLink, 'url' | 'user' | 'pwd'> {
  const [at = '', payload] = text.split('/phone#')
  const [login = '', pwd] = payload?.split(':') ?? []
  if (pwd !== undefined) return { url: at, user: login, pwd: decodeURIComponent(pwd) }
  const link = payload === undefined ? text : `clip://connect?v=1&svc=mobile-sync&p=${payload}`
  const { url, user, pwd: password } = parseConnectLink(link)
  return { url, user, pwd: password }
}

/** A phone that uses a code, as an app does after the scan. */
export function phoneOf(code: string): Phone {
  const { url, user, pwd } = parseCode(code)
  return createPhone({ username: user, password: pwd }, url)
}

/** Adds a device in the page, up to its QR code. */
export async function addDevice(page: Page, label: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Add a device' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(label)
  await dialog.getByRole('button', { name: 'Show QR code' }).click()
  await dialog.getByRole('img', { name: /^QR code/ }).waitFor()
  return dialog
}

/** Closes the dialog that is open, and waits until it is gone. */
export async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  // It asks first where no device has connected yet.
  const anyway = page.getByRole('button', { name: 'Close all the same' })
  await anyway.or(page.locator('body:not(:has(dialog))')).waitFor()
  if (await anyway.isVisible()) await anyway.click()
  await page.locator('dialog').waitFor({ state: 'detached' })
}

/** Keeps the requests for a URL from the daemon until the returned function is called. */
export async function holdRequests(page: Page, url: string): Promise<() => void> {
  const release = defer<void>()
  await page.route(url, async (route) => {
    await release.promise
    await route.continue()
  })
  return () => release.resolve()
}

export function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element.ownerDocument.activeElement === element)
}

/** Starts the daemon of a panel again, at the addresses where it was. */
export function restart(t: TestContext, { ready, folder }: DaemonProcess): Promise<DaemonProcess> {
  const listen = new URL(ready.gateway).host
  const control = new URL(ready.control).host
  return startDaemon(t, {
    folder,
    args: ['--clipboard', 'none', '--listen', listen, '--control', control],
  })
}
