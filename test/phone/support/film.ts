/**
 * A page behind a wire that breaks, and a film that takes a while.
 * @module
 */

import assert from 'node:assert/strict'
import { createHash, randomFillSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { devices, type BrowserContextOptions } from 'playwright-core'
import { openPage, type WatchedPage } from '../../panel/support/browser.ts'
import { restart, startDaemon } from '../../panel/support/panel.ts'
import type { DaemonProcess, PairedDevice } from '../../support/daemon-process.ts'
import { byNight } from '../../support/night.ts'
import type { Phone } from '../../support/phone.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addressOf } from './phone-page.ts'
import { layWire, type Wire } from './wire.ts'
import { execute } from '../../support/execute.ts'
import { sha256Of } from '../../support/hashes.ts'

export const MIB: number = 2 ** 20

/** What may be between the page and the disk when a connection breaks. */
export const IN_FLIGHT_BYTES: number = 16 * MIB

const BLOCK_BYTES: number = 8 * MIB

/** At night, more than phones let a page hold. */
const SENT_BYTES: number = byNight(4096, { byDay: 96 }) * MIB
const SAVED_BYTES: number = byNight(3072, { byDay: 24 }) * MIB

export interface Film {
  readonly path: string
  readonly size: number
  readonly hash: string
}

/** A daemon, and a page that reaches it by a wire only. */
export interface Wired {
  readonly daemon: DaemonProcess
  readonly wire: Wire
  readonly other: Phone
  /** Gives the page files to send. */
  send(...paths: readonly string[]): Promise<void>
}

export interface WiredPage extends WatchedPage, Wired {
  readonly device: PairedDevice
  /** What the daemon keeps of files. */
  blobs(): Promise<readonly string[]>
}

/** The page, which reaches its daemon by a wire only. */
export async function openWiredPage(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<WiredPage> {
  const daemon = await startDaemon(t, { devices: ['Pixel', 'Other'] })
  const { gateway } = daemon.ready
  const device = await daemon.pair('Pixel')
  const other = await daemon.phone('Other')
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

/** Has somebody push a film that takes a while to save. */
export async function pushFilm(t: TestContext, { fetch }: Phone): Promise<Film> {
  const film = await makeFilm(t, 'film.bin', SAVED_BYTES)
  const body = Readable.toWeb(createReadStream(film.path))
  const put = await fetch('/file/film.bin', { method: 'PUT', body, duplex: 'half' })
  assert.equal(put.status, 200)
  const document = JSON.stringify({ type: 'File', dataName: 'film.bin', hasData: true })
  assert.equal((await fetch('/Sync.json', { method: 'PUT', body: document })).status, 200)
  return film
}

/** The SHA-256 of the current item's bytes, as they are downloaded. */
export async function hashOfItem({ document, fetch }: Phone): Promise<string> {
  const { dataName } = await document()
  const { body } = await fetch(`/file/${encodeURIComponent(String(dataName))}`)
  return sha256Of(body ?? [])
}

export function hashOfFile(path: string): Promise<string> {
  return sha256Of(createReadStream(path))
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
  const isShown = `document.querySelector('.uploads progress').value >= ${10 * MIB}`
  const broken = wired.wire.breakAt(12 * MIB, async () => {
    while (!(await wired.page.evaluate(isShown)));
    await meanwhile?.()
  })
  await wired.send(film.path)
  await broken
  return film
}

/**
 * Sends a film and three photos at once over a wire that breaks five times, while the daemon is
 * killed once, and compares each with what others download.
 *
 * @param page.isSent Waits until the page says that its file of this place in the list was sent.
 */
export async function sendThroughBreaks(
  t: TestContext,
  page: Wired & { isSent(nth: number): Promise<void> },
): Promise<void> {
  const { wire, other } = page
  let { daemon } = page
  const film = await makeFilm(t, 'film.mp4', SENT_BYTES)
  const sizes = [3_000_000, 5_000_000, 4_000_000]
  const photos = await Promise.all(sizes.map((size, nth) => makeFilm(t, `${nth}.jpg`, size)))
  const [first, ...others] = photos
  assert.ok(first !== undefined)
  const files = [first, film, ...others]
  let pushes = 0
  let [readByStart, readByEnd] = [0, 0]
  wire.guard.ask = async (line) => {
    if (line !== 'PUT /Sync.json') return
    readByEnd = await readSoFar(daemon)
    pushes += 1
  }
  const started = performance.now()
  const breaks = [1, 2, 3, 4, 5].map((nth) =>
    wire.breakAt(first.size + (nth * film.size) / 6, async () => {
      if (nth !== 3) return
      await daemon.kill()
      daemon = await restart(t, daemon)
      readByStart = await readSoFar(daemon)
    }),
  )
  await page.send(...files.map(({ path }) => path))
  await Promise.all(breaks)
  for (const nth of files.keys()) await page.isSent(nth)
  t.diagnostic(`${film.size / MIB} MiB took ${Math.round(performance.now() - started)} ms`)
  assert.equal(pushes, 1)
  assert.deepEqual(
    await hashesInItem(t, other),
    Object.fromEntries(files.map(({ path, hash }) => [basename(path), hash])),
  )

  const total = files.reduce((sum, { size }) => sum + size, 0)
  t.diagnostic(`${wire.bytes - total} bytes were sent twice`)
  assert.ok(wire.bytes < total + 5 * IN_FLIGHT_BYTES, `${wire.bytes} of ${total}`)
  // What had come before it was killed, and what came then, each once for each of two hashes.
  const read = readByEnd - readByStart
  t.diagnostic(`the daemon that was started again read ${read} bytes`)
  assert.ok(read < 2 * (film.size + IN_FLIGHT_BYTES), `${read} of ${film.size}`)
}

const HASHES = `
import hashlib, json, sys, zipfile
def hash(file):
    found = hashlib.sha256()
    while block := file.read(1 << 20):
        found.update(block)
    return found.hexdigest()
with zipfile.ZipFile(sys.argv[1]) as archive:
    print(json.dumps({name: hash(archive.open(name)) for name in archive.namelist()}))
`

/** The SHA-256 of each file in the current item, which is an archive. */
async function hashesInItem(t: TestContext, { document, fetch }: Phone): Promise<unknown> {
  const { dataName } = await document()
  const { body } = await fetch(`/file/${encodeURIComponent(String(dataName))}`)
  const path = join(await temporaryFolder(t), 'archive.zip')
  await writeFile(path, body ?? '')
  const { stdout } = await execute('python3', ['-c', HASHES, path])
  return JSON.parse(stdout)
}

/** What a process has read since its start, from files and sockets alike. */
async function readSoFar({ child }: DaemonProcess): Promise<number> {
  const text = await readFile(`/proc/${child.pid}/io`, 'utf8')
  return Number(/^rchar: (\d+)$/m.exec(text)?.[1])
}
