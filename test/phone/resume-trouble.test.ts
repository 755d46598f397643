import assert from 'node:assert/strict'
import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { closeBrowser } from '../panel/support/browser.ts'
import { restart } from '../panel/support/panel.ts'
import { LASTING, PASSING } from '../support/passing-statuses.ts'
import { needs } from '../support/requirements.ts'
import {
  arrives,
  IN_FLIGHT_BYTES,
  makeFilm,
  MIB,
  openWiredPage,
  sendAndBreak,
} from './support/film.ts'

after(closeBrowser)

describe('a file on its way from a phone', needs('chromium'), () => {
  it('begins again when the computer has lost what was there, and says so', async (t) => {
    const wired = await openWiredPage(t)
    const { daemon, page } = wired
    let anew: Promise<void> | undefined
    const film = await sendAndBreak(t, wired, async () => {
      await daemon.kill()
      await rm(join(daemon.folder, 'data', 'staging'), { recursive: true })
      await restart(t, daemon)
      // It is read while nothing passes.
      anew = wired.wire.breakAt(24 * MIB, () => page.getByText('Started over').waitFor())
    })
    await anew
    await arrives(wired, film)
  })

  it('waits when a proxy answers for the computer, and says so on top of the page', async (t) => {
    for (const [status, words] of [
      [503, /^The computer is busy, \d+ % sent/],
      // There is no way to a computer that is away.
      [404, /^Waiting for the computer, \d+ % sent/],
    ] as const) {
      const wired = await openWiredPage(t)
      const { page, wire } = wired
      const film = await makeFilm(t, 'film.mp4', 32 * MIB)
      let said: Promise<void> | undefined
      const answer = async (): Promise<void> => {
        said = page.locator('.sum').getByText(words).waitFor()
        // Nothing goes on before it is read.
        wire.guard.ask = () => said
      }
      const broken = wire.breakAt(24 * MIB, answer, status)
      await wired.send(film.path)
      await broken
      await said
      await arrives(wired, film)
      assert.ok(wire.bytes < film.size + IN_FLIGHT_BYTES, 'it goes on')
    }
  })

  it('asks again when it was told another offset', async (t) => {
    const wired = await openWiredPage(t)
    let isTold = false
    const statuses: (number | undefined)[] = []
    wired.wire.guard.answer = async (line, { headers, statusCode }) => {
      if (line.startsWith('HEAD') && !isTold) {
        isTold = true
        headers['upload-offset'] = '5'
      }
      statuses.push(statusCode)
    }
    const film = await sendAndBreak(t, wired)
    await arrives(wired, film)
    assert.ok(statuses.includes(409))
    assert.ok(wired.wire.bytes < film.size + 2 * IN_FLIGHT_BYTES)
  })

  it('tries again after what may pass, and after nothing else', async (t) => {
    const { page, wire } = await openWiredPage(t)
    const left = new Set([...PASSING, ...LASTING].map((status) => `PUT /file/${status}`))
    wire.guard.answer = async (line, answer) => {
      if (!left.delete(line)) return
      answer.statusCode = Number(line.slice('PUT /file/'.length))
      // Another 401 is not that of the daemon, and passes.
      answer.headers['content-type'] = 'application/problem+json'
    }
    const files = [...PASSING, ...LASTING].map((status) => {
      return { name: String(status), mimeType: 'x/y', buffer: Buffer.from('x') }
    })
    await page.locator('input[type=file]').first().setInputFiles(files)
    const buttons = page.getByRole('button', { name: 'Remove from the list' })
    await buttons.nth(files.length - 1).waitFor()
    const sent = page.getByRole('listitem').filter({ hasText: 'Sent' }).locator('.name')
    assert.deepEqual(await sent.allTextContents(), PASSING.map(String))
  })

  it('does not send all of it again when only the last answer was lost', async (t) => {
    for (const lost of ['PATCH /file-uploads/', 'PUT /Sync.json']) {
      const wired = await openWiredPage(t)
      wired.wire.guard.answer = async (line) => {
        if (!line.startsWith(lost)) return
        delete wired.wire.guard.answer
        throw new Error('The answer is lost')
      }
      const film = await makeFilm(t, 'film.mp4', 32 * MIB)
      await wired.send(film.path)
      await arrives(wired, film)
      // Chromium repeats a request by itself when a connection ends that has served others.
      assert.ok(wired.wire.bytes < film.size + IN_FLIGHT_BYTES, lost)
    }
  })

  it('says so when the phone gives the file no longer', async (t) => {
    const wired = await openWiredPage(t)
    const film = await makeFilm(t, 'film.mp4', 32 * MIB)
    void wired.wire.breakAt(12 * MIB, () => truncate(film.path, 5))
    await wired.send(film.path)
    await wired.page.getByText('Choose it again').waitFor()
    while ((await wired.blobs()).length > 0);
  })

  it('leaves nothing at the computer when it is cancelled on the way', async (t) => {
    const wired = await openWiredPage(t)
    const { page, wire, blobs } = wired
    const cancel = page.getByRole('button', { name: 'Cancel: film.mp4' })
    await sendAndBreak(t, wired, () => cancel.tap())
    await page.getByRole('listitem').waitFor({ state: 'detached' })
    while ((await blobs()).length > 0);
    // Chromium may repeat the request that broke at the same time.
    assert.ok(wire.requests.some((line) => line.startsWith('DELETE /file-uploads/')))
  })

  it('can be cancelled while it waits, and sends what comes after it', async (t) => {
    const wired = await openWiredPage(t)
    const { page, daemon } = wired
    const photo = await makeFilm(t, 'photo.jpg', 100_000)
    await sendAndBreak(t, wired, () => daemon.kill())
    await page.getByRole('listitem').getByText('Waiting for the computer').waitFor()
    await wired.send(photo.path)
    await page.getByRole('button', { name: 'Cancel: film.mp4' }).tap()
    await restart(t, daemon)
    await arrives(wired, photo)
  })

  it('ends when its phone is revoked, and nothing of it is left', async (t) => {
    const wired = await openWiredPage(t)
    const { page, daemon, device, blobs } = wired
    await sendAndBreak(t, wired, () => daemon.run('revoke', device.id))
    // Not what the upload says, which may hear of it first.
    await page.getByText('This phone was disconnected on the computer', { exact: true }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'film.mp4' }).waitFor()
    assert.equal(await page.evaluate('localStorage.length'), 0)
    while ((await blobs()).length > 0);
  })
})
