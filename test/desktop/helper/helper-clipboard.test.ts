import assert from 'node:assert/strict'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { blobOf } from '../../support/memory-blob.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { pauseThatEnded, untilHeldBack } from '../support/open-reconciler.ts'
import { WatchedClock } from '../x11/support/watched-clock.ts'
import {
  copyElsewhere,
  HELPER_PLATFORMS,
  makeSystem,
  openHelperClipboard,
  pasteElsewhere,
} from './support/open-helper-clipboard.ts'
import type { ClipboardFile } from './support/clipboard-file.js'

const RETRY_MS = 300

for (const platform of HELPER_PLATFORMS) {
  const copy = (system: ClipboardFile, text: string): void =>
    copyElsewhere(platform, system, { kind: 'text', text })
  const paste = (system: ClipboardFile) => pasteElsewhere(platform, system, 'text')
  const textOf = (text: string) => ({ kind: 'text', text }) as const

  describe(`The ${platform} clipboard`, { timeout: 60_000 }, () => {
    it('reports at start what is there, when it is told to', async (t) => {
      const system = await makeSystem(t)
      copy(system, 'before')
      const { copies } = await openHelperClipboard(t, platform, { system, readAtStart: true })
      assert.deepEqual(await copies.next(), textOf('before'))
    })

    it('offers at start what was current before, unless something is there', async (t) => {
      const system = await makeSystem(t)
      const start = { system, readAtStart: true, before: async () => textOf('before') }
      const first = await openHelperClipboard(t, platform, start)
      await until(system, () => paste(system) !== undefined)
      assert.deepEqual(paste(system), textOf('before'))
      await first.clipboard.close()
      copy(system, 'meanwhile')
      const { copies } = await openHelperClipboard(t, platform, start)
      assert.deepEqual(await copies.next(), textOf('meanwhile'))
      assert.deepEqual(paste(system), textOf('meanwhile'))
    })

    it('shares nothing of what is there while what was copied in a pause is held back', async (t) => {
      const system = await makeSystem(t)
      copy(system, 'private')
      const pause = pauseThatEnded()
      const opened = await openHelperClipboard(t, platform, { system, readAtStart: true, pause })
      await untilHeldBack(opened)
      copy(system, 'after')
      assert.deepEqual(await opened.copies.next(), textOf('after'))
    })

    it('reports the newest of copies that follow each other fast', async (t) => {
      const { system, copies } = await openHelperClipboard(t, platform)
      for (let n = 0; n < 50; n += 1) copy(system, String(n))
      for (let last = await copies.next(); ; last = await copies.next()) {
        if (last.kind === 'text' && last.text === '49') break
      }
    })

    it('says that a copy is too long, and goes on', async (t) => {
      const limits = { maxTextBytes: 10, maxImageBytes: 20 }
      const { system, copies, troubles } = await openHelperClipboard(t, platform, { limits })
      copy(system, 'eleven byte')
      assert.equal(
        await troubles.next(),
        'What was copied is larger than 10 bytes: not shared (text, at least 11 bytes)',
      )
      copy(system, 'ten bytes.')
      assert.deepEqual(await troubles.next(), { isOver: true })
      assert.deepEqual(await copies.next(), textOf('ten bytes.'))
      const bytes = new Uint8Array(21)
      copyElsewhere(platform, system, { kind: 'image', mediaType: 'image/png', bytes })
      assert.equal(
        await troubles.next(),
        'What was copied is larger than 20 bytes: not shared (image, at least 21 bytes)',
      )
    })

    it('offers no image that is too long', async (t) => {
      const { clipboard, system } = await openHelperClipboard(t, platform, {
        limits: { maxImageBytes: 20 },
      })
      copy(system, 'theirs')
      const blob = await blobOf(new Uint8Array(21))
      await assert.rejects(
        clipboard.offer({ kind: 'image', mediaType: 'image/png', blob }),
        /^Error: The image is larger/,
      )
      assert.deepEqual(paste(system), textOf('theirs'))
    })

    it('takes the text beside files that are not there', async (t) => {
      const { system, copies } = await openHelperClipboard(t, platform)
      const file = await temporaryFile(t, 'a file', 'bytes')
      copyElsewhere(platform, system, { kind: 'files', paths: ['/no/such/file', file] })
      assert.deepEqual(await copies.next(), { kind: 'files', paths: [file] })
      copyElsewhere(platform, system, { kind: 'files', paths: ['/no/such/file'] })
      const type = platform === 'macos' ? 'public.utf8-plain-text' : 'CF_UNICODETEXT'
      system.add(type, 'its name', { isChange: true })
      assert.deepEqual(await copies.next(), textOf('its name'))
    })

    it('leaves the clipboard alone at the end when somebody else has copied', async (t) => {
      const { clipboard, system, copies } = await openHelperClipboard(t, platform)
      await clipboard.offer(textOf('ours'))
      copy(system, 'theirs')
      await copies.next()
      await clipboard.close()
      assert.deepEqual(paste(system), textOf('theirs'))
      await assert.rejects(clipboard.offer(textOf('late')), /closed/)
    })
  })

  describe(`The ${platform} clipboard, when its helper dies`, { timeout: 60_000 }, () => {
    it('says so, comes back, and reports copies again', async (t) => {
      const { system, copies, kill, comesBack } = await open(t)
      await kill()
      await comesBack()
      copy(system, 'after')
      assert.deepEqual(await copies.next(), textOf('after'))
    })

    it('reports what was copied meanwhile', async (t) => {
      const { system, copies, clock, kill } = await open(t)
      await kill()
      copy(system, 'meanwhile')
      await clock.pass(RETRY_MS)
      assert.deepEqual(await copies.next(), textOf('meanwhile'))
    })

    it('still knows what it offered, and lets go of it', async (t) => {
      const { clipboard, system, copies, kill, comesBack } = await open(t)
      const blob = await blobOf(Buffer.from('89504e470d0a1a0a', 'hex'))
      await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
      await kill()
      await comesBack()
      copy(system, 'theirs')
      assert.deepEqual(await copies.next(), textOf('theirs'))
      await clipboard.offer(textOf('ours'))
      await kill()
      await comesBack(2 * RETRY_MS)
      await clipboard.close()
      assert.equal(paste(system), undefined)
      assert.equal(copies.size, 0)
    })

    it('offers when it is back what it was asked to offer meanwhile', async (t) => {
      const { clipboard, system, copies, kill, comesBack } = await open(t)
      await kill()
      await assert.rejects(clipboard.offer(textOf('older')), /does not run/)
      await assert.rejects(clipboard.offer(textOf('pushed')), /does not run/)
      await comesBack()
      await until(system, () => paste(system) !== undefined)
      assert.deepEqual(paste(system), textOf('pushed'))
      assert.equal(copies.size, 0)
    })

    it('forgets what it was to offer when somebody copied meanwhile', async (t) => {
      const { clipboard, system, copies, clock, kill } = await open(t)
      await kill()
      await assert.rejects(clipboard.offer(textOf('pushed')), /does not run/)
      copy(system, 'theirs')
      await clock.pass(RETRY_MS)
      assert.deepEqual(await copies.next(), textOf('theirs'))
      assert.deepEqual(paste(system), textOf('theirs'))
    })

    it('can be closed', async (t) => {
      const { clipboard, kill } = await open(t)
      await clipboard.offer(textOf('ours'))
      await kill()
      await clipboard.close()
    })
  })

  async function open(t: TestContext) {
    const clock = new WatchedClock()
    const opened = await openHelperClipboard(t, platform, { clock })
    const { system, troubles } = opened
    const kill = async (): Promise<void> => {
      process.kill(system.pid, 'SIGKILL')
      assert.match(String(await troubles.next()), /ended with SIGKILL$/)
    }
    const comesBack = async (afterMs = RETRY_MS): Promise<void> => {
      await clock.pass(afterMs)
      assert.deepEqual(await troubles.next(), { isOver: true })
    }
    return { ...opened, clock, kill, comesBack }
  }
}

describe('The windows clipboard, while another program has it open', { timeout: 60_000 }, () => {
  const HELD = 'Another program holds the clipboard'

  async function openHeld(t: TestContext) {
    const clock = new WatchedClock()
    const opened = await openHelperClipboard(t, 'windows', { clock })
    opened.system.hold(true)
    const texts = (text: string) => ({ kind: 'text', text }) as const
    const paste = () => pasteElsewhere('windows', opened.system, 'text')
    return { ...opened, clock, texts, paste }
  }

  it('gets what was pushed last as soon as it is free', async (t) => {
    const { clipboard, system, clock, troubles, texts, paste } = await openHeld(t)
    for (const text of ['oldest', 'older', 'pushed']) {
      await assert.rejects(clipboard.offer(texts(text)), { name: 'OutOfReach', message: HELD })
    }
    assert.equal(await troubles.next(), HELD)
    system.hold(false)
    await clock.pass(4 * RETRY_MS)
    await until(system, () => paste() !== undefined)
    assert.deepEqual(paste(), texts('pushed'))
    assert.deepEqual(await troubles.next(), { isOver: true })
  })

  it('shares what was copied as soon as it is free, and forgets what was pushed', async (t) => {
    const { clipboard, system, clock, copies, troubles, texts, paste } = await openHeld(t)
    await assert.rejects(clipboard.offer(texts('pushed')), { message: HELD })
    copyElsewhere('windows', system, texts('theirs'))
    assert.equal(await troubles.next(), HELD)
    await clock.hasOnly(2 * RETRY_MS)
    system.hold(false)
    await clock.pass(2 * RETRY_MS)
    assert.deepEqual(await copies.next(), texts('theirs'))
    assert.deepEqual(paste(), texts('theirs'))
  })
})

async function until(system: ClipboardFile, isSo: () => boolean): Promise<void> {
  const watcher = watch(system.folder)
  try {
    while (!isSo()) await once(watcher, 'change')
  } finally {
    watcher.close()
  }
}
