import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Blob } from '../../../src/ports/blob.ts'
import { needs } from '../../support/requirements.ts'
import { Sway, SWAY_TOOLS } from '../../support/sway.ts'
import {
  IS_OVER,
  pauseThatEnded,
  restart,
  untilHeldBack,
  type OpenOptions,
} from '../support/open-reconciler.ts'
import { openWayland } from './support/open-wayland.ts'
import { clear, newerTools, pasteUntil, wlCopy, wlPaste } from './support/wl-clipboard.ts'

const AWAY = 'The Wayland compositor is away'

/** Our children that run wl-paste, or wl-copy, for the compositor in `folder`. */
async function toolsOf(folder: string): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      // Processes end while we look.
      const read = (name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '')
      const [command, env] = [await read('cmdline'), await read('environ')]
      return command.startsWith('wl-') && env.includes(folder) ? Number(id) : undefined
    }),
  )
  return found.filter((id) => id !== undefined)
}

/** Removes the folder of a wl-copy that was killed. */
async function removeFileWith(marker: string): Promise<void> {
  const folders = (await readdir('/tmp')).filter((name) => name.startsWith('wl-copy-buffer-'))
  for (const name of folders) {
    // Those of others come and go.
    const content = await readFile(join('/tmp', name, 'stdin'), 'utf8').catch(() => '')
    if (content === marker) await rm(join('/tmp', name), { recursive: true })
  }
}

describe('WaylandClipboard, when the compositor goes away', {
  ...needs(...SWAY_TOOLS),
  timeout: 60_000,
}, () => {
  it('says so, comes back by itself, and offers again what it offered', async (t) => {
    const opened = await openOnOwnSway(t)
    const { sway, env, clipboard, troubles, copies } = opened
    await clipboard.offer({ kind: 'text', text: 'ours' })
    await restart(sway, opened, AWAY)
    await pasteUntil(env, 'text/plain', 'ours')
    await wlCopy(t, env, 'theirs')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'theirs' })
    assert.deepEqual([copies.size, troubles.size], [0, 0])
  })

  it('does not offer again what somebody replaced, or cleared', async (t) => {
    const opened = await openOnOwnSway(t)
    const { sway, env, clipboard, clock, copies } = opened
    await clipboard.offer({ kind: 'text', text: 'ours' })
    await wlCopy(t, env, 'theirs')
    await copies.next()
    await restart(sway, opened, AWAY)
    await clipboard.offer({ kind: 'text', text: 'ours too' })
    await clear(env)
    // Its wl-copy is told to end, and then nothing of ours is left.
    while ((await toolsOf(env.XDG_RUNTIME_DIR)).length > 1) await wlPaste(env, 'text/plain')
    clock.advance(30_000)
    await restart(sway, opened, AWAY)
    await wlCopy(t, env, 'the end')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'the end' })
    assert.equal(copies.size, 0)
  })

  it('does not try once more to offer what could not be read', async (t) => {
    const opened = await openOnOwnSway(t)
    const { sway, env, clipboard, copies } = opened
    let opens = 0
    const blob: Blob = {
      size: 2,
      open: async () => {
        opens += 1
        return { read: async () => 0, close: async () => undefined }
      },
    }
    const offered = clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
    await assert.rejects(offered, /bytes are missing/)
    const tried = opens
    await restart(sway, opened, AWAY)
    await wlCopy(t, env, 'the end')
    await copies.next()
    assert.equal(opens, tried)
  })

  it('reports what was copied before it was back', async (t) => {
    const { sway, env, clipboard, clock, troubles, copies } = await openOnOwnSway(t)
    await clipboard.offer({ kind: 'text', text: 'ours' })
    await sway.crash()
    assert.equal(await troubles.next(), AWAY)
    await sway.restart()
    await wlCopy(t, env, 'theirs')
    await clock.pass(300)
    assert.deepEqual(await troubles.next(), IS_OVER)
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'theirs' })
    assert.equal(String(await wlPaste(env, 'text/plain')), 'theirs')
  })

  for (const isNewer of [false, true]) {
    const tools = isNewer ? ', with tools that tell of an empty clipboard' : ''
    it(`shares nothing that it finds there while what was copied in a pause is held back${tools}`, async (t) => {
      const newer = isNewer ? await newerTools(t) : undefined
      const opened = await openOnOwnSway(t, { pause: pauseThatEnded(), PATH: newer?.PATH })
      const { sway, env, clock, troubles, copies } = opened
      await newer?.untilTold()
      await sway.crash()
      assert.equal(await troubles.next(), AWAY)
      await sway.restart()
      await wlCopy(t, env, 'private')
      await clock.pass(300)
      await untilHeldBack(opened)
      await wlCopy(t, env, 'after')
      assert.deepEqual(await copies.next(), { kind: 'text', text: 'after' })
    })
  }

  it('does not report again what it wrote when only its watch was killed', async (t) => {
    const { env, clipboard, clock, troubles, copies } = await openOnOwnSway(t)
    const [watch] = await toolsOf(env.XDG_RUNTIME_DIR)
    assert.ok(watch !== undefined, 'there is a wl-paste')
    await clipboard.offer({ kind: 'text', text: 'ours' })
    process.kill(watch, 'SIGKILL')
    assert.match(String(await troubles.next()), /"wl-paste" ended with SIGKILL/)
    await clock.pass(300)
    assert.deepEqual(await troubles.next(), IS_OVER)
    await wlCopy(t, env, 'theirs')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'theirs' })
    assert.equal(copies.size, 0)
  })

  it('leaves no process when it is closed, also while the compositor is away', async (t) => {
    const { sway, env, clipboard, clock, troubles } = await openOnOwnSway(t)
    await clipboard.offer({ kind: 'text', text: 'ours' })
    assert.equal((await toolsOf(env.XDG_RUNTIME_DIR)).length, 2)
    await sway.crash()
    await troubles.next()
    await clipboard.close()
    assert.deepEqual(await toolsOf(env.XDG_RUNTIME_DIR), [])
    await sway.restart()
    clock.advance(60_000)
    assert.equal(troubles.size, 0)
  })

  it('can be closed when the compositor hangs', async (t) => {
    const { sway, env, clipboard, clock } = await openOnOwnSway(t)
    const marker = randomUUID()
    await clipboard.offer({ kind: 'text', text: marker })
    // The one case in which it stays.
    t.after(() => removeFileWith(marker))
    sway.freeze()
    const closing = clipboard.close()
    await clock.pass(3000)
    await closing
    // The `wl-copy --clear` that hangs is ended as well.
    assert.deepEqual(await toolsOf(env.XDG_RUNTIME_DIR), [])
    sway.thaw()
  })

  it('gives up an offer to a compositor that hangs, and tries again until it goes on', async (t) => {
    const opened = await openOnOwnSway(t)
    const { sway, env, clipboard, clock } = opened
    await wlCopy(t, env, 'older')
    await opened.copies.next()
    sway.freeze()
    const rejected = assert.rejects(clipboard.offer({ kind: 'text', text: 'x' }), /does not become/)
    await clock.pass(10_000)
    await rejected
    await clock.pass(2000)
    sway.thaw()
    await pasteUntil(env, 'text/plain', 'x')
  })
})

/** @param PATH Where its tools are looked for first. */
async function openOnOwnSway(
  t: TestContext,
  {
    PATH = process.env['PATH'],
    ...options
  }: OpenOptions & { readonly PATH?: string | undefined } = {},
) {
  const sway = await Sway.start()
  const env = { ...sway.env, PATH }
  const opened = await openWayland(t, { env }, options)
  // Ends after the clipboard, which is closed before.
  t.after(() => sway.stop())
  return { ...opened, sway }
}
