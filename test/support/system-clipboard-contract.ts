/**
 * What every system clipboard does, told by what other programs on the desktop see of it.
 * @module
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { NEVER_PAUSED } from '../../src/desktop/clipboard-pause.ts'
import type { ClipboardReconciler } from '../../src/desktop/clipboard-reconciler.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { CopiedContent, SystemClipboard } from '../../src/ports/system-clipboard.ts'
import {
  openReconciler,
  watchedPause,
  type SystemDeps,
} from '../desktop/support/open-reconciler.ts'
import type { Mailbox } from './mailbox.ts'
import { temporaryFile } from './temporary-folder.ts'
import { blobOf } from './memory-blob.ts'

/** Another program on the same desktop. */
interface Elsewhere {
  /** The other program copies; resolves when it owns the clipboard. */
  copyElsewhere(content: CopiedContent): Promise<void>
  /** The other program pastes; `undefined` when there is nothing of this kind. */
  pasteElsewhere(kind: CopiedContent['kind']): Promise<CopiedContent | undefined>
  /** A text ends with its first NUL there. */
  readonly endsTextsAtNul?: true
}

/** A clipboard, and another program on the same desktop. */
export interface DesktopUnderTest extends Elsewhere {
  readonly system: SystemClipboard
}

/** Opens a clipboard; whatever it needs is cleaned up through `t.after`. */
export type OpenDesktop = (t: TestContext, deps: SystemDeps) => Promise<DesktopUnderTest>

/** Images are PNGs; adapters that look inside get the signature. */
const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** Wine takes minutes for what Windows and X11 take at once. */
const NUL_MIB: number = process.platform === 'win32' ? 2 : 16

const NULS: string = '\0'.repeat(NUL_MIB * MIB)

/** NULs at the end do not count; and those before something else must not take for ever. */
const NUL_TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['NULs and a letter behind them', `${NULS.slice(1)}x`],
  ['NULs', NULS],
  ['letters and NULs behind them', `${'x'.repeat(NULS.length / 2)}${NULS.slice(NULS.length / 2)}`],
]

/** Windows has no question marks in names. */
const PICTURE = `ein Bild, 100%${process.platform === 'win32' ? '' : '?'}#.png`

const TEXT = 'Grüße, 世界 👋\n\tzweite Zeile — with "quotes"\r\n'

/** Runs the suite. */
export function describeSystemClipboard(
  name: string,
  requirement: { readonly skip: string | false },
  openDesktop: OpenDesktop,
): void {
  describe(`${name}, as every system clipboard`, { ...requirement, timeout: 240_000 }, () => {
    interface Opened extends Elsewhere {
      readonly clipboard: ClipboardReconciler
      readonly copies: Mailbox<CopiedContent>
    }

    async function open(t: TestContext, pause = NEVER_PAUSED): Promise<Opened> {
      let elsewhere: Elsewhere | undefined
      const openSystem = async (deps: SystemDeps): Promise<SystemClipboard> => {
        const { system, ...rest } = await openDesktop(t, deps)
        elsewhere = rest
        return system
      }
      const { clipboard, copies } = await openReconciler(systemClock, openSystem, { pause })
      t.after(() => clipboard.close())
      assert.ok(elsewhere !== undefined, 'it is open')
      return { clipboard, copies, ...elsewhere }
    }

    it('reports text that is copied elsewhere', async (t) => {
      const { copyElsewhere, copies } = await open(t)
      await copyElsewhere({ kind: 'text', text: TEXT })
      assert.deepEqual(await copies.next(), { kind: 'text', text: TEXT })
    })

    it('reports an image that is copied elsewhere, byte for byte', async (t) => {
      const { copyElsewhere, copies } = await open(t)
      const bytes = pngOf(5 * MIB)
      await copyElsewhere({ kind: 'image', mediaType: 'image/png', bytes })
      assertImage(await copies.next(), bytes)
    })

    it('reports files that are copied elsewhere', async (t) => {
      const { copyElsewhere, copies } = await open(t)
      const paths = [await temporaryFile(t, PICTURE, PICTURE), await temporaryFile(t, '👋', '👋')]
      await copyElsewhere({ kind: 'files', paths })
      assert.deepEqual(await copies.next(), { kind: 'files', paths })
    })

    it('reports copies in the order in which they happen', async (t) => {
      const { copyElsewhere, copies } = await open(t)
      for (const text of ['one', 'two', 'one']) {
        await copyElsewhere({ kind: 'text', text })
        assert.deepEqual(await copies.next(), { kind: 'text', text })
      }
    })

    it('reports no copy that is made during a pause, and not later either', async (t) => {
      const { asked, state, pause } = watchedPause(true)
      const { copyElsewhere, pasteElsewhere, copies } = await open(t, pause)
      await copyElsewhere({ kind: 'text', text: 'private' })
      await asked.next()
      assert.deepEqual(await pasteElsewhere('text'), { kind: 'text', text: 'private' })
      state.isOn = false
      await copyElsewhere({ kind: 'text', text: 'for all' })
      assert.deepEqual(await copies.next(), { kind: 'text', text: 'for all' })
      assert.equal(copies.size, 0)
    })

    it('reports a copy of what it offered once, when other copies came in between', async (t) => {
      const { asked, state, pause } = watchedPause(false)
      const { clipboard, copyElsewhere, copies } = await open(t, pause)
      await clipboard.offer({ kind: 'text', text: 'ours' })
      state.isOn = true
      await copyElsewhere({ kind: 'text', text: 'private' })
      await asked.next()
      state.isOn = false
      await copyElsewhere({ kind: 'text', text: 'ours' })
      assert.deepEqual(await copies.next(), { kind: 'text', text: 'ours' })
    })

    it('lets other programs paste text, also a long one', async (t) => {
      const { clipboard, pasteElsewhere } = await open(t)
      for (const text of [TEXT, TEXT.repeat(30_000)]) {
        await clipboard.offer({ kind: 'text', text })
        const pasted = await pasteElsewhere('text')
        assert.ok(pasted?.kind === 'text' && pasted.text === text)
      }
    })

    for (const [what, text] of NUL_TEXTS) {
      it(`comes to its end with many ${what}, offered and copied elsewhere`, async (t) => {
        const { clipboard, copyElsewhere, copies, endsTextsAtNul } = await open(t)
        await clipboard.offer({ kind: 'text', text })
        await copyElsewhere({ kind: 'text', text: 'between' })
        assert.deepEqual(await copies.next(), { kind: 'text', text: 'between' })
        await copyElsewhere({ kind: 'text', text })
        const whole = text.slice(0, text.lastIndexOf('x') + 1)
        const shared = endsTextsAtNul === true ? whole.split('\0', 1).join() : whole
        if (shared !== '') {
          const copied = await copies.next()
          // `deepEqual` of megabytes would take minutes to print.
          assert.ok(copied.kind === 'text' && copied.text === shared)
        }
        await copyElsewhere({ kind: 'text', text: 'behind' })
        assert.deepEqual(await copies.next(), { kind: 'text', text: 'behind' })
      })
    }

    it('lets other programs paste an image, byte for byte, again and again', async (t) => {
      const { clipboard, pasteElsewhere } = await open(t)
      for (const size of [1000, 5 * MIB]) {
        const bytes = pngOf(size)
        await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob: await blobOf(bytes) })
        assertImage(await pasteElsewhere('image'), bytes)
        assertImage(await pasteElsewhere('image'), bytes)
      }
    })

    it('lets other programs paste files', async (t) => {
      const { clipboard, pasteElsewhere } = await open(t)
      const paths = [await temporaryFile(t, PICTURE, PICTURE), await temporaryFile(t, '👋', '👋')]
      await clipboard.offer({ kind: 'files', paths })
      assert.deepEqual(await pasteElsewhere('files'), { kind: 'files', paths })
    })

    it('offers the newest thing only', async (t) => {
      const { clipboard, pasteElsewhere } = await open(t)
      const blob = await blobOf(pngOf(1000))
      await clipboard.offer({ kind: 'image', mediaType: 'image/png', blob })
      await clipboard.offer({ kind: 'text', text: 'newer' })
      assert.deepEqual(await pasteElsewhere('text'), { kind: 'text', text: 'newer' })
      assert.equal(await pasteElsewhere('image'), undefined)
    })

    it('gives way to what is copied elsewhere', async (t) => {
      const { clipboard, copyElsewhere, pasteElsewhere } = await open(t)
      await clipboard.offer({ kind: 'text', text: 'ours' })
      await copyElsewhere({ kind: 'text', text: 'theirs' })
      assert.deepEqual(await pasteElsewhere('text'), { kind: 'text', text: 'theirs' })
    })

    it('never reports what it offers itself', async (t) => {
      const { clipboard, copyElsewhere, pasteElsewhere, copies } = await open(t)
      await clipboard.offer({ kind: 'text', text: 'ours' })
      await pasteElsewhere('text')
      await clipboard.offer({ kind: 'text', text: 'ours too' })
      await copyElsewhere({ kind: 'text', text: 'theirs' })
      assert.deepEqual(await copies.next(), { kind: 'text', text: 'theirs' })
      assert.equal(copies.size, 0)
    })

    it('lets go of the clipboard when it is closed, and reports nothing any more', async (t) => {
      const { clipboard, copyElsewhere, pasteElsewhere, copies } = await open(t)
      await clipboard.offer({ kind: 'text', text: 'ours' })
      await clipboard.close()
      assert.equal(await pasteElsewhere('text'), undefined)
      await copyElsewhere({ kind: 'text', text: 'unseen' })
      assert.deepEqual(await pasteElsewhere('text'), { kind: 'text', text: 'unseen' })
      assert.equal(copies.size, 0)
    })
  })
}

function pngOf(size: number): Uint8Array {
  return Buffer.concat([PNG_SIGNATURE, randomBytes(size)])
}

function assertImage(content: CopiedContent | undefined, bytes: Uint8Array): void {
  assert.ok(content?.kind === 'image' && content.mediaType === 'image/png')
  // `deepEqual` of megabytes would take minutes to print.
  assert.ok(Buffer.compare(content.bytes, bytes) === 0)
}
