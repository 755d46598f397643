import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { closeBrowser } from '../panel/support/browser.ts'
import { restart } from '../panel/support/panel.ts'
import { defer } from '../support/defer.ts'
import { needs } from '../support/requirements.ts'
import {
  arrives,
  hashOfItem,
  IN_FLIGHT_BYTES,
  makeFilm,
  MIB,
  openWiredPage,
  sendAndBreak,
  sendThroughBreaks,
} from './support/film.ts'
import { passUntil, uploadsOf } from './support/phone-page.ts'

after(closeBrowser)

/** Waits until the page has filled every buffer on its way. */
async function comesToRest(page: Page): Promise<void> {
  const read = (): Promise<unknown> =>
    page.evaluate(`document.querySelector('.uploads progress').value`)
  for (let same = 0, last: unknown; same < 20; ) {
    const value = await read()
    same = value === last ? same + 1 : 0
    last = value
  }
}

describe('a phone that sends files', needs('chromium'), () => {
  it('brings a film and three photos there, whatever breaks on the way', async (t) => {
    const wired = await openWiredPage(t)
    const { page, assertCalm } = wired
    const isSent = (nth: number): Promise<void> =>
      uploadsOf(page).nth(nth).getByText('Sent: 4 files as one group').waitFor()
    await sendThroughBreaks(t, { ...wired, isSent })
    assertCalm()
  })

  it('sends a photo in one request', async (t) => {
    const wired = await openWiredPage(t)
    const photo = await makeFilm(t, 'photo.jpg', 5 * MIB)
    await wired.send(photo.path)
    await arrives(wired, photo)
    assert.deepEqual(wired.wire.requests, ['PUT /file/photo.jpg', 'PUT /Sync.json'])
  })

  it('goes on when the page was frozen, as behind a locked screen', async (t) => {
    const wired = await openWiredPage(t)
    const pages = await pagesOf(wired.page)
    // Nothing in the page runs, and nobody tells it that its connection is gone.
    const film = await sendAndBreak(t, wired, async () => {
      for (const pid of pages) process.kill(pid, 'SIGSTOP')
    })
    for (const pid of pages) process.kill(pid, 'SIGCONT')
    await arrives(wired, film)
    assert.ok(wired.wire.bytes < film.size + IN_FLIGHT_BYTES)
  })

  it('gives up a connection that hangs when the phone wakes up', async (t) => {
    const wired = await openWiredPage(t)
    const hanging = defer<void>()
    t.after(() => hanging.resolve())
    const film = await makeFilm(t, 'film.mp4', 32 * MIB)
    const held = defer<void>()
    void wired.wire.breakAt(12 * MIB, async () => {
      held.resolve()
      await hanging.promise
    })
    await wired.send(film.path)
    await held.promise
    await comesToRest(wired.page)
    const asked = performance.now()
    // What browsers say; a Chromium without a window is never hidden, and so never says it.
    await wired.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await arrives(wired, film)
    t.diagnostic(`It took ${Math.round(performance.now() - asked)} ms`)
  })

  it('waits for the network, says so, and goes on', async (t) => {
    const wired = await openWiredPage(t)
    const context = wired.page.context()
    const film = await sendAndBreak(t, wired, () => context.setOffline(true))
    await isSaid(wired.page, /^Waiting for the network, [3-9]\d % sent/)
    await context.setOffline(false)
    await arrives(wired, film)
    assert.ok(wired.wire.bytes < film.size + IN_FLIGHT_BYTES)
  })

  it('waits for the computer, and says so in Chinese to those who speak it', async (t) => {
    const wired = await openWiredPage(t, { locale: 'zh-CN' })
    await wired.page.clock.install()
    let stopped: Promise<unknown> | undefined
    const film = await sendAndBreak(t, wired, async () => {
      stopped = wired.daemon.stop()
    })
    await stopped
    await isSaid(wired.page, /^等待电脑响应，已发送 [3-9]\d%/)
    await restart(t, wired.daemon)
    const sent = wired.page.getByRole('listitem').getByText('已发送', { exact: true })
    await passUntil(wired.page, sent.waitFor())
    assert.equal(await hashOfItem(wired.other), film.hash)
    assert.ok(wired.wire.bytes < film.size + IN_FLIGHT_BYTES)
  })
})

/** Waits until it is said of the file, and on top of the page of all that are on their way. */
async function isSaid(page: Page, words: RegExp): Promise<void> {
  for (const place of ['.uploads', '.sum']) await page.locator(place).getByText(words).waitFor()
}

/** The processes that run the scripts of pages. */
async function pagesOf(page: Page): Promise<readonly number[]> {
  const session = await page.context().browser()?.newBrowserCDPSession()
  const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {}
  const pages = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
  assert.ok(pages.length > 0)
  return pages
}
