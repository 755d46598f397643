/**
 * A page behind a wire that breaks, and a film that takes a while.
 * @module
 */

import assert from 'node:assert/strict'
import { createHash, randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { devices, type BrowserContextOptions } from 'playwright-core'
import { openPage, type WatchedPage } from '../../panel/support/browser.ts'
import { startDaemon } from '../../panel/support/panel.ts'
import type { DaemonProcess, PairedDevice } from '../../support/daemon-process.ts'
import { createPhone, type Phone } from '../../support/phone.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addressOf } from './phone-page.ts'
import { layWire, type Wire } from './wire.ts'

export const MIB: number = 2 ** 20

/** What may be between the page and the disk when a connection breaks. */
export const IN_FLIGHT_BYTES: number = 16 * MIB

const BLOCK_BYTES: number = 8 * MIB

export interface Film {
  readonly path: string
  readonly size: number
  readonly hash: string
}

export interface WiredPage extends WatchedPage {
  readonly daemon: DaemonProcess
  readonly device: PairedDevice
  readonly wire: Wire
  readonly other: Phone
  /** What the daemon keeps of files. */
  blobs(): Promise<readonly string[]>
  send(...paths: readonly string[]): Promise<void>
}

/** The page, which reaches its daemon by a wire only. */
export async function openWiredPage(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<WiredPage> {
  const daemon = await startDaemon(t)
  const { gateway } = daemon.ready
  const device = await daemon.pair('Pixel')
  const other = createPhone(await daemon.pair('Other'), gateway)
  const wire = await layWire(t, gateway)
  const watched = await openPage({ ...devices['Pixel 7'], ...options })
  t.after(() => watched.page.context().close())
  const { page } = watched
  await page.goto(addressOf(device, wire.url))
  await page.locator('[data-way=live]').waitFor()
  return {
    ...{ daemon, device, wire, other, ...watched },
    blobs: () => readdir(join(daemon.folder, 'data', 'blobs')),
    send: (...paths) =>
      page
        .locator('input[type=file]')
        .first()
        .setInputFiles([...paths]),
  }
}

/** A file of random bytes that no other test has. */
export async function makeFilm(t: TestContext, name: string, size: number): Promise<Film> {
  const path = join(await temporaryFolder(t), name)
  const hash = createHash('sha256')
  const file = await open(path, 'w')
  const block = Buffer.alloc(Math.min(size, BLOCK_BYTES))
  for (let left = size; left > 0; left -= block.length) {
    // The first bytes of each block are enough, and make gigabytes in seconds.
    randomFillSync(block, 0, Math.min(block.length, 4096))
    const piece = block.subarray(0, left)
    hash.update(piece)
    await file.write(piece)
  }
  await file.close()
  return { path, size, hash: hash.digest('hex') }
}

/** The SHA-256 of the current item's bytes, as they are downloaded. */
export async function hashOfItem({ document, fetch }: Phone): Promise<string> {
  const { dataName } = await document()
  const { body } = await fetch(`/file/${encodeURIComponent(String(dataName))}`)
  const hash = createHash('sha256')
  for await (const chunk of body ?? []) hash.update(chunk)
  return hash.digest('hex')
}

/** Ends a daemon without a word. */
export async function kill({ child }: DaemonProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Waits until the page says that a file was sent, and compares what others download. */
export async function arrives({ other, page }: WiredPage, film: Film): Promise<void> {
  await page.getByRole('listitem').getByText('Sent', { exact: true }).waitFor()
  assert.equal((await other.document())['dataName'], basename(film.path))
  assert.equal(await hashOfItem(other), film.hash)
}

/** Sends a film, and has it break once in the middle. */
export async function sendAndBreak(
  t: TestContext,
  wired: WiredPage,
  meanwhile?: () => Promise<unknown>,
): Promise<Film> {
  const film = await makeFilm(t, 'film.mp4', 32 * MIB)
  // What the page shows comes after what it sends.
  const isShown = `document.querySelector('progress').value >= ${10 * MIB}`
  const broken = wired.wire.breakAt(12 * MIB, async () => {
    while (!(await wired.page.evaluate(isShown)));
    await meanwhile?.()
  })
  await wired.send(film.path)
  await broken
  return film
}
