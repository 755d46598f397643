import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { PNG as Picture } from 'pngjs'
import { MIB } from '../../../src/core/limits.ts'
import type { Blob } from '../../../src/ports/blob.ts'
import { defer } from '../../support/defer.ts'
import { execute } from '../../support/execute.ts'
import { blobOf } from '../../support/memory-blob.ts'
import { LOADER } from '../../support/program.ts'
import { needs } from '../../support/requirements.ts'
import { Sway, SWAY_TOOLS } from '../../support/sway.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { IS_OVER } from '../support/open-reconciler.ts'
import { openWayland, sharedSway } from './support/open-wayland.ts'
import { clear, listTypes, wlCopy, wlPaste } from './support/wl-clipboard.ts'

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(100_000)])

const PHOTO = readFileSync(new URL('../../../fixtures/photos/lying.jpg', import.meta.url))

/** How many files of wl-copy hold this; those of other tests are not ours to count. */
async function filesWith(marker: string): Promise<number> {
  const folders = (await readdir('/tmp')).filter((name) => name.startsWith('wl-copy-buffer-'))
  const contents = await Promise.all(
    // It may be removed at any time.
    folders.map((name) => readFile(join('/tmp', name, 'stdin')).catch(() => Buffer.alloc(0))),
  )
  return contents.filter((content) => content.includes(marker)).length
}

/** A blob of which nothing comes after the first block until the test ends. */
function slowBlob(marker: string) {
  const asked = defer<void>()
  const blob: Blob = {
    size: 10 * MIB,
    open: async () => ({
      read: async (target, position) => {
        if (position > 0) {
          asked.resolve()
          await new Promise(() => undefined)
        }
        target.fill(0)
        target.set(Buffer.from(marker))
        return target.length
      },
      close: async () => undefined,
    }),
  }
  return { blob, asked: asked.promise }
}

/** Who offers a photo and who recognises it when it comes back have opened it then. */
const OPENED_TO_OFFER = 2

/** A photo whose conversion goes on when the test wants it. */
function heldPhoto(photo: Blob) {
  const asked = defer<void>()
  const answered = defer<void>()
  let opened = 0
  const open: Blob['open'] = async () => {
    opened += 1
    if (opened > OPENED_TO_OFFER) {
      asked.resolve()
      await answered.promise
    }
    return photo.open()
  }
  return { blob: { ...photo, open }, asked: asked.promise, answer: () => answered.resolve() }
}

async function fileIn(t: TestContext): Promise<string> {
  const path = join(await temporaryFolder(t), 'a b.txt')
  await writeFile(path, 'x')
  return path
}

describe('WaylandClipboard, offering', { ...needs(...SWAY_TOOLS), timeout: 60_000 }, () => {
  it('offers text under all of its usual names', async (t) => {
    const { env, clipboard } = await openWayland(t, await sharedSway())
    await clipboard.offer({ kind: 'text', text: 'hello' })
    const types = ['STRING', 'TEXT', 'UTF8_STRING', 'text/plain', 'text/plain;charset=utf-8']
    assert.deepEqual((await listTypes(env)).toSorted(), types)
    for (const type of types) assert.equal(String(await wlPaste(env, type)), 'hello')
  })

  it('makes an empty text an empty clipboard', async (t) => {
    const { env, clipboard, copies } = await openWayland(t, await sharedSway())
    await clipboard.offer({ kind: 'text', text: 'before' })
    await clipboard.offer({ kind: 'text', text: '' })
    assert.deepEqual(await listTypes(env), [])
    assert.equal(copies.size, 0)
  })

  it('does not report what it wrote, whatever it was', async (t) => {
    const { env, clipboard, copies } = await openWayland(t, await sharedSway())
    await clipboard.offer({ kind: 'text', text: 'NUL at the end\0\0' })
    await clipboard.offer({ kind: 'text', text: 'half a pair \ud83d' })
    await clipboard.offer({ kind: 'files', paths: [await fileIn(t)] })
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: await blobOf(PNG) })
    await wlCopy(t, env, 'the end')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'the end' })
    assert.equal(copies.size, 0)
  })

  it('offers an image that is too large to be read again', async (t) => {
    const limits = { maxImageBytes: MIB }
    const { env, clipboard, copies, troubles } = await openWayland(t, await sharedSway(), {
      limits,
    })
    const bytes = Buffer.concat([PNG, randomBytes(3 * MIB)])
    await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: await blobOf(bytes) })
    assert.ok((await wlPaste(env, 'image/png'))?.equals(bytes), 'the bytes are the same')
    await wlCopy(t, env, 'the end')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'the end' })
    assert.equal(troubles.size, 0)
  })

  it('offers a photo at once, as PNG, upright, when that is made, and does not report it', async (t) => {
    const { env, clipboard, copies } = await openWayland(t, await sharedSway())
    await clipboard.offer({ kind: 'text', text: 'old' })
    const { blob, answer } = heldPhoto(await blobOf(PHOTO))
    await clipboard.offer({ kind: 'image', mediaType: 'image/jpeg', blob })
    assert.ok((await wlPaste(env, 'image/jpeg'))?.equals(PHOTO))
    assert.equal(await wlPaste(env, 'text/plain'), undefined)
    answer()
    while ((await listTypes(env)).join() !== 'image/png');
    const { width, height } = Picture.sync.read(
      Buffer.from((await wlPaste(env, 'image/png')) ?? ''),
    )
    assert.deepEqual([width, height], [8, 16])
    await wlCopy(t, env, 'the end')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'the end' })
    assert.equal(copies.size, 0)
  })

  it('offers a photo as it came where no PNG can be made of it', async (t) => {
    const damaged = PHOTO.subarray(0, PHOTO.length / 2)
    for (const [bytes, limits] of [
      [damaged, {}],
      [PHOTO, { maxImageBytes: PHOTO.length / 8 }],
    ] as const) {
      const { env, clipboard, logger } = await openWayland(t, await sharedSway(), { limits })
      await clipboard.offer({ kind: 'image', mediaType: 'image/jpeg', blob: await blobOf(bytes) })
      while (!logger.text.includes('Cannot convert what was pushed')) await setImmediate()
      assert.deepEqual(await listTypes(env), ['image/jpeg'])
      assert.ok((await wlPaste(env, 'image/jpeg'))?.equals(bytes))
      await clipboard.close()
    }
  })

  it('gives way at once to what is pushed or copied while it converts a photo', async (t) => {
    const { env, clipboard, copies } = await openWayland(t, await sharedSway())
    const converting = async () => {
      const { blob, asked, answer } = heldPhoto(await blobOf(PHOTO))
      await clipboard.offer({ kind: 'image', mediaType: 'image/jpeg', blob })
      await asked
      return answer
    }
    const afterPush = await converting()
    await clipboard.offer({ kind: 'text', text: 'pushed' })
    assert.equal(String(await wlPaste(env, 'text/plain')), 'pushed')
    afterPush()
    const afterCopy = await converting()
    await wlCopy(t, env, 'copied')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'copied' })
    afterCopy()
    await clipboard.close()
    assert.equal(String(await wlPaste(env, 'text/plain')), 'copied')
  })

  it('offers what is not shared when it is copied', async (t) => {
    const image = { kind: 'image', mediaType: 'image/png', blob: await blobOf(PNG) } as const
    const files = { kind: 'files', paths: [await fileIn(t)] } as const
    for (const [content, limits, type] of [
      [{ kind: 'text', text: 'x' }, { types: ['files'] }, 'text/plain'],
      [{ kind: 'text', text: 'long' }, { maxTextBytes: 3 }, 'text/plain'],
      [image, { types: ['text'] }, 'image/png'],
      [{ ...image, mediaType: 'image/x-icon' }, {}, 'image/x-icon'],
      [files, { types: ['text'] }, 'text/uri-list'],
    ] as const) {
      const { env, clipboard, copies } = await openWayland(t, await sharedSway(), { limits })
      await clipboard.offer(content)
      assert.ok((await listTypes(env)).includes(type), type)
      assert.equal(copies.size, 0)
      await clipboard.close()
    }
  })

  it('gives way to what is copied while it writes, and leaves nothing of it', async (t) => {
    const { env, clipboard, copies } = await openWayland(t, await sharedSway())
    const marker = randomUUID()
    const { blob, asked } = slowBlob(marker)
    const offered = clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
    const rejected = assert.rejects(offered, /copied at the same moment/)
    await asked
    await wlCopy(t, env, 'meanwhile')
    assert.deepEqual(await copies.next(), { kind: 'text', text: 'meanwhile' })
    await rejected
    assert.equal(String(await wlPaste(env, 'text/plain')), 'meanwhile')
    assert.equal(await filesWith(marker), 0)
  })

  it('does not offer a part when the bytes break off', async (t) => {
    const { env, clipboard } = await openWayland(t, await sharedSway())
    const marker = randomUUID()
    const broken: Blob = {
      size: MIB,
      open: async () => ({
        read: async (target, position) => {
          target.set(Buffer.from(marker))
          return position === 0 ? target.length : 0
        },
        close: async () => undefined,
      }),
    }
    await clear(env)
    const offered = clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: broken })
    await assert.rejects(offered, /bytes are missing/)
    assert.deepEqual(await listTypes(env), [])
    assert.equal(await filesWith(marker), 0)
    await clipboard.offer({ kind: 'text', text: 'next' })
    assert.equal(String(await wlPaste(env, 'text/plain')), 'next')
  })

  it('says so while no file can be made for what it is to offer', async (t) => {
    const tools = await temporaryFolder(t)
    const full = join(tools, 'full')
    const complaint = 'mkdtemp: No space left on device'
    const script = `#!/bin/sh
[ ! -e ${full} ] || { echo '${complaint}' >&2; exit 1; }
PATH=\${PATH#*:} exec wl-copy "$@"
`
    await writeFile(join(tools, 'wl-copy'), script, { mode: 0o755 })
    const env = { ...(await sharedSway()).env, PATH: `${tools}:${process.env['PATH']}` }
    const { clipboard, troubles } = await openWayland(t, { env })
    const makings = [() => writeFile(full, ''), async () => (process.env['TMPDIR'] = full)]
    for (const [index, fill] of makings.entries()) {
      const { TMPDIR = '/tmp' } = process.env
      await fill()
      const offered = clipboard.offer({ kind: 'text', text: 'lost' })
      await assert
        .rejects(offered, /"\/tmp" is full/)
        .finally(() => (process.env['TMPDIR'] = TMPDIR))
      assert.match(String(await troubles.next()), /"\/tmp" is full/)
      await rm(full, { force: true })
      await clipboard.offer({ kind: 'text', text: `pushed ${index}` })
      assert.deepEqual(await troubles.next(), IS_OVER)
      assert.equal(String(await wlPaste(env, 'text/plain')), `pushed ${index}`)
    }
  })

  it('does not offer a part when the program is killed', async (t) => {
    const { env } = await Sway.start(t)
    const code = `
      import { WlCopy } from '${new URL('../../../src/desktop/wayland/wl-copy.ts', import.meta.url)}'
      import { systemClock as clock } from '${new URL('../../../src/lib/clock.ts', import.meta.url)}'
      const read = async (target, position) => {
        if (position > 0) await new Promise(() => process.stdout.write('asked'))
        return target.fill(120).length
      }
      const blob = { size: ${10 * MIB}, open: async () => ({ read, close: async () => undefined }) }
      new WlCopy({ content: { kind: 'image', mediaType: 'image/png', blob }, env: process.env, clock })
      setInterval(() => undefined, 1000)`
    const args = [...LOADER, '--input-type=module', '--eval', code]
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env } })
    await once(child.stdout, 'data')
    const { pid } = child
    const started = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ')
    child.kill('SIGKILL')
    const runs = (id: string) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    // Whatever it had started has ended, or offers nothing of it.
    for (const id of started.filter((id) => id !== '')) {
      while ((await runs(id)) !== '') {
        assert.equal((await listTypes(env)).includes('image/png'), false, 'a part can be pasted')
      }
    }
  })

  it('removes the file that a killed program had not taken the name of yet, and no other', async (t) => {
    const sway = await sharedSway()
    const folder = await temporaryFolder(t)
    const left = join(folder, `clipgate-${'0'.repeat(32)}`)
    const others = `${left}-of-others`
    for (const path of [left, others]) await writeFile(path, '')
    const { TMPDIR = '/tmp' } = process.env
    process.env['TMPDIR'] = folder
    const opened = openWayland(t, sway, { wasCutOff: true })
    await opened.finally(() => (process.env['TMPDIR'] = TMPDIR))
    assert.deepEqual([existsSync(left), existsSync(others)], [false, true])
  })

  it('leaves no file behind when it is closed', async (t) => {
    const sway = await Sway.start(t)
    const marker = randomUUID()
    const { env, clipboard } = await openWayland(t, sway)
    await clipboard.offer({ kind: 'text', text: marker })
    const { stdout: version } = await execute('wl-paste', ['--version'])
    // Newer ones take the name away once they have all of it.
    assert.equal(await filesWith(marker), /^wl-clipboard 2\.[0-2]\./.test(version) ? 1 : 0)
    await clipboard.close()
    assert.equal(await filesWith(marker), 0)
    assert.deepEqual(await listTypes(env), [])
  })

  it('does not empty the clipboard of others when it is closed', async (t) => {
    const { env, clipboard, copies } = await openWayland(t, await sharedSway())
    await clipboard.offer({ kind: 'text', text: 'ours' })
    await wlCopy(t, env, 'theirs')
    await copies.next()
    await clipboard.close()
    assert.equal(String(await wlPaste(env, 'text/plain')), 'theirs')
  })

  it('can be closed while it writes', async (t) => {
    const { clipboard } = await openWayland(t, await sharedSway())
    const marker = randomUUID()
    const { blob, asked } = slowBlob(marker)
    const offered = clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
    const rejected = assert.rejects(offered, /was closed/)
    await asked
    await clipboard.close()
    await rejected
    assert.equal(await filesWith(marker), 0)
    await assert.rejects(clipboard.offer({ kind: 'text', text: 'x' }), /closed/)
  })
})
