/**
 * How fast does a file get from the phone page to the daemon, beside `curl -T`? (B18) And how soon
 * does a slow phone show what is current?
 *
 * The page runs in a real Chromium on the same machine, and sends as it does after a tap: it begins
 * an upload that can go on after a break, and then sends all bytes in one request. Both are measured
 * until the last byte was answered, and the file is on the same disk.
 * @module
 */

import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { closeBrowser, INSECURE_HOST, openPage } from '../test/panel/support/browser.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { execute, findProgram } from './support/processes.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'

const ROUNDS = isQuick ? 3 : 5

const STARTS = 10

/** A phone is that much slower than the machine that this runs on. */
const SLOWER = 4

const TEXT = 'what was copied last'

const BLOCK_BYTES: number = 16 * 1024 * 1024

const NAME = 'film.mp4'

/** What one upload took: seconds of time, and of the daemon's processor time. */
interface Trip {
  readonly seconds: number
  readonly cpuSeconds: number
}

void bench(async ({ cleanup, folder }) => {
  const missing = ['curl', 'chromium'].filter((name) => findProgram(name) === undefined)
  if (missing.length > 0) return [skip('B18', `needs ${missing.join(', ')}`)]
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  cleanup.add(closeBrowser)
  const path = join(folder, NAME)
  await writeRandom(path)
  const page = await openPhone(daemon)
  const bare = await openBarePage(cleanup)

  const ours = contender(() => measure(daemon, () => sendFromPage(page, path)))
  const curl = contender(() => measure(daemon, () => sendWithCurl(daemon, path)))
  const limit = contender(() => sendToNobody(bare, path))
  await alternate([ours, curl, limit], {
    rounds: ROUNDS,
    prepare: async () => {
      // Takes the place of the large one, whose bytes are removed then.
      await daemon.send('PUT', '/file/small.bin', 'small')
      await daemon.push('small.bin')
      await execute('sync')
    },
  })
  const starts = await openSlowly(daemon)
  return [
    judge('B18', {
      measured: toRates(ours.values.map(({ seconds }) => seconds)),
      baseline: toRates(curl.values.map(({ seconds }) => seconds)),
    }),
    explain('B18', {
      what: 'the same browser, to a server that drops all',
      unit: 'MB/s',
      measured: toRates(limit.values),
    }),
    ...(['paint', 'item'] as const).map((what) =>
      explain('B18', {
        what: `a cold start of the page, ${SLOWER} times slower: first ${what}`,
        unit: 'ms',
        measured: starts.map((start) => start[what]),
      }),
    ),
    ...(usageMissing === undefined
      ? [
          explain('B18', {
            what: 'processor time of the daemon',
            unit: 's',
            measured: ours.values.map(({ cpuSeconds }) => cpuSeconds),
            baseline: curl.values.map(({ cpuSeconds }) => cpuSeconds),
          }),
        ]
      : []),
  ]
})

async function measure({ pid }: Daemon, send: () => Promise<Trip['seconds']>): Promise<Trip> {
  const before = readCpuSeconds(pid)
  const seconds = await send()
  return { seconds, cpuSeconds: readCpuSeconds(pid) - before }
}

function addressOf({ port, authorization }: Daemon): string {
  const plain = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString()
  return `http://${INSECURE_HOST}:${port}/phone#${plain}`
}

async function openPhone(daemon: Daemon): Promise<Page> {
  const { page } = await openPage()
  await page.goto(addressOf(daemon))
  await page.locator('[data-way=live]').waitFor()
  return page
}

/** Opens the page in browsers that know nothing of it. @returns Milliseconds. */
async function openSlowly(daemon: Daemon): Promise<readonly { paint: number; item: number }[]> {
  await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: TEXT }))
  const starts = []
  for (let start = 0; start < STARTS; start += 1) {
    const { page } = await openPage()
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
    await page.addInitScript(`new MutationObserver(() => {
      if (document.body?.textContent.includes('${TEXT}')) globalThis.shownAt ??= performance.now()
    }).observe(document, { childList: true, subtree: true, characterData: true })`)
    await page.goto(addressOf(daemon))
    await page.getByText(TEXT).waitFor()
    const [paint, item] = await page.evaluate<[number, number]>(
      `[performance.getEntriesByName('first-contentful-paint')[0].startTime, shownAt]`,
    )
    starts.push({ paint, item })
    await page.context().close()
  }
  return starts
}

/** @returns Seconds from the choice of the file to the answer to its last byte. */
async function sendFromPage(page: Page, path: string): Promise<number> {
  const answered = page.waitForResponse(
    (response) => response.request().method() === 'PATCH' && response.status() === 200,
  )
  const seconds = await timed(async () => {
    await page.locator('input[type=file]').first().setInputFiles(path)
    await answered
  })
  // What else it does is over before the next one begins.
  await page.getByRole('listitem').getByText('Sent', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Remove from the list: ${NAME}` }).click()
  return seconds
}

async function sendWithCurl(daemon: Daemon, path: string): Promise<number> {
  const header = `Authorization: ${daemon.authorization}`
  const url = `http://127.0.0.1:${daemon.port}/file/${NAME}`
  const seconds = await timed(() =>
    execute('curl', ['--silent', '--fail', '--header', header, '--upload-file', path, url]),
  )
  await daemon.push(NAME)
  return seconds
}

/** A page of a server that keeps nothing: what is left is the browser. */
async function openBarePage(cleanup: AsyncCleanup): Promise<Page> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('Content-Type', 'text/html').end('<input type=file>')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  cleanup.add(async () => {
    server.close()
    server.closeAllConnections()
  })
  const { page } = await openPage()
  // `listen` was given an address, so this is one.
  await page.goto(`http://${INSECURE_HOST}:${(server.address() as AddressInfo).port}/`)
  return page
}

async function sendToNobody(page: Page, path: string): Promise<number> {
  return timed(async () => {
    await page.locator('input').setInputFiles(path)
    await page.evaluate(`new Promise((resolve) => {
      const request = new XMLHttpRequest()
      request.open('PUT', '/')
      request.addEventListener('load', resolve)
      request.send(document.querySelector('input').files[0].slice(0))
    })`)
  })
}

/** Random: it must not be easier to hash or to store than other files. */
async function writeRandom(path: string): Promise<void> {
  const file = await open(path, 'w')
  const block = randomFillSync(Buffer.allocUnsafeSlow(BLOCK_BYTES))
  for (let size = 0; size < BODY_BYTES; size += BLOCK_BYTES) await file.write(block)
  await file.close()
}
