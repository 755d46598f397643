import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/lib/clock.ts'
import { NEVER_PAUSED } from '../../../src/desktop/clipboard-pause.ts'
import { ClipboardReconciler } from '../../../src/desktop/clipboard-reconciler.ts'
import { COPY_LIMITS } from '../../../src/desktop/read-copy.ts'
import { openMacosClipboard } from '../../../src/desktop/macos/macos-clipboard.ts'
import { openWindowsClipboard } from '../../../src/desktop/windows/windows-clipboard.ts'
import type { CopiedContent, OfferedContent } from '../../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { Mailbox } from '../../support/mailbox.ts'
import fc from '../../support/property.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const FOLDER = fileURLToPath(new URL('../../../fixtures/helpers/', import.meta.url))
const REPLAY = fileURLToPath(new URL('./support/replay.js', import.meta.url))

/** An image is its bytes in base64. */
type ExpectedCopy =
  | Exclude<CopiedContent, { kind: 'image' }>
  | { readonly kind: 'image'; readonly mediaType: string; readonly base64: string }

interface Step {
  readonly offer?: Exclude<OfferedContent, { kind: 'image' }>
  readonly expect?: ExpectedCopy
  readonly trouble?: string | null
  readonly offered?: boolean
}

async function open(t: TestContext, path: string) {
  const copies = new Mailbox<CopiedContent>()
  const troubles = new Mailbox<string | null>()
  const logger = new CaptureLogger()
  let end: (reason: Error) => void = () => undefined
  const ended = new Promise<never>((_, reject) => (end = reject))
  // Most helpers agree to the end.
  ended.catch(() => undefined)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const connected = once(server, 'connection')
  const { port } = server.address() as AddressInfo
  const openClipboard = path.includes('windows-') ? openWindowsClipboard : openMacosClipboard
  const clock = systemClock
  const clipboard = new ClipboardReconciler(
    (events) =>
      openClipboard(
        { events, logger, clock, env: process.env, readAtStart: false },
        { command: process.execPath, args: [REPLAY, path, String(port)] },
      ),
    {
      pause: NEVER_PAUSED,
      limits: COPY_LIMITS,
      clock,
      logger,
      onCopy: (content) => copies.put(content),
      onTrouble: (message) => {
        if (message?.includes('ended with') === true) end(new Error('The helper disagrees'))
        else troubles.put(message ?? null)
      },
    },
  )
  await clipboard.opened()
  t.after(() => clipboard.close())
  const [helper]: Socket[] = await connected
  // It may be gone before it has read that we saw the last copy.
  helper?.on('error', () => undefined)
  const next = <T>(mailbox: Mailbox<T>): Promise<T> => Promise.race([mailbox.next(), ended])
  return { clipboard, copies, troubles, logger, next, sawIt: () => helper?.write('.') }
}

function asExpected(copied: CopiedContent): ExpectedCopy {
  if (copied.kind !== 'image') return copied
  const { kind, mediaType, bytes } = copied
  return { kind, mediaType, base64: Buffer.from(bytes).toString('base64') }
}

describe('A conversation with a clipboard helper', { timeout: 60_000 }, () => {
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.jsonl'))) {
    it(`goes as in ${name}`, async (t) => {
      const { clipboard, copies, troubles, logger, next, sawIt } = await open(t, join(FOLDER, name))
      const lines = readFileSync(join(FOLDER, name), 'utf8').split('\n').filter(Boolean)
      const steps: Step[] = lines.map((line) => JSON.parse(line))
      for (const { offer, expect, trouble, offered } of steps) {
        if (offer !== undefined) await clipboard.offer(offer)
        if (expect !== undefined) assert.deepEqual(asExpected(await next(copies)), expect)
        if (trouble !== undefined) assert.equal(await next(troubles), trouble)
        if (expect !== undefined || trouble !== undefined || offered) sawIt()
      }
      assert.equal(copies.size, 0)
      for (const { expect } of steps) {
        if (expect?.kind !== 'text') continue
        assert.equal(logger.text.includes(expect.text), false, 'no copy is logged')
      }
    })
  }

  it('survives lines that make no sense, and takes none of them for a copy', async (t) => {
    const folder = await temporaryFolder(t)
    const type = 'public.utf8-plain-text'
    const steps = [
      { helper: { event: 'ready' } },
      { adapter: { do: 'look' } },
      { helper: { reply: '$id', change: 1, types: [] } },
      ...fc.sample(junk, 500).map((raw) => ({ raw })),
      { helper: { event: 'changed', change: 2, types: [type] } },
      { adapter: { do: 'read', change: 2, type, maxBytes: 16 * 1024 * 1024 }, hands: 'whole' },
      { helper: { reply: '$id', outcome: 'read', change: 2, bytes: 5 } },
    ]
    const path = join(folder, 'macos-junk.jsonl')
    await writeFile(path, steps.map((step) => JSON.stringify(step)).join('\n'))
    const { copies, next } = await open(t, path)
    assert.deepEqual(await next(copies), { kind: 'text', text: 'whole' })
    assert.equal(copies.size, 0)
  })
})

const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(-1, 1.5, 2 ** 60, 'public.png', [], {}))

/** Nearly right, and never a change that could be read. */
const nearly = fc
  .record(
    {
      event: fc.constantFrom('changed', 'Changed', 'ready', 'copied', ''),
      reply: anything,
      change: anything,
      types: fc.oneof(fc.array(fc.integer(), { minLength: 1 }), fc.jsonValue().filter(isNoList)),
      denied: anything,
      error: anything,
      bytes: anything,
      outcome: anything,
    },
    { requiredKeys: ['types'] },
  )
  .map((message) => JSON.stringify(message))

const junk = fc
  .oneof(fc.string({ unit: 'binary' }), fc.json(), nearly)
  .map((line) => line.replaceAll('\n', ' '))

function isNoList(value: unknown): boolean {
  return !Array.isArray(value)
}
