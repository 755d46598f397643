/**
 * Copies a text, an image and a file, and reads them back as another program: what a report about a
 * clipboard that nobody here has needs to say.
 * @module
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { release, tmpdir, type } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openSystemClipboard } from '../daemon/open-system-clipboard.ts'
import { readVersion } from '../daemon/version.ts'
import { ClipboardReconciler, NEVER_PAUSED } from '../desktop/clipboard-reconciler.ts'
import { COPY_LIMITS } from '../desktop/read-copy.ts'
import { systemClock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { Blob } from '../ports/blob.ts'
import type { Logger } from '../ports/logger.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { fine, findingOf, problem, type Finding, type Verdict } from './finding.ts'
import type { Situation } from './situation.ts'

/** Programs of a desktop may be slow, and a clipboard may be held by one for a moment. */
const ANSWER_MS = 5000

const TEXT = 'clipgate doctor: ä 世界 👋'

/** One red pixel. */
const PNG: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4wMAAAAJEAMGTjGgiAAAAAElFTkSuQmCC',
  'base64',
)

const REPORT = 'please report it, with all that "clipgate doctor --try-clipboard" says'

/** Replaces what is on the clipboard, and leaves it empty or with the last of what it tried. */
export async function tryClipboard(
  { settings, machine, daemon }: Situation,
  logger: Logger,
): Promise<readonly Finding[]> {
  if (daemon !== undefined && daemon.status.clipboard !== 'none') {
    if (daemon.status.paused === undefined) {
      const reason = 'the daemon that runs would share what is tried'
      return [findingOf('clipboard-try', problem(reason, 'first: clipgate pause 1m'))]
    }
  }
  const kind = settings.clipboard === 'none' ? undefined : settings.clipboard
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-doctor-'))
  const copies = new Copies()
  const open = (onCopy: (copied: CopiedContent) => void): ClipboardReconciler =>
    new ClipboardReconciler(
      async (events) => {
        const deps = { events, logger, clock: systemClock, limits: COPY_LIMITS }
        const system = await openSystemClipboard(kind, { ...deps, readAtStart: false })
        copies.kind = system.kind
        return system
      },
      {
        pause: NEVER_PAUSED,
        limits: COPY_LIMITS,
        clock: systemClock,
        logger,
        onCopy,
        onTrouble: (message) => (copies.trouble = message),
      },
    )
  const reader = open((copied) => copies.take(copied))
  const writer = open(() => undefined)
  try {
    await Promise.all([reader.opened(), writer.opened()])
    const path = join(folder, 'clipgate ä.txt')
    await writeFile(path, TEXT)
    const tried: Finding[] = [findingOf('clipboard-system', fine(describe(copies.kind, machine)))]
    for (const content of samples(path)) {
      tried.push(findingOf(`clipboard-${content.kind}`, await tryOne(writer, copies, content)))
    }
    return tried
  } catch (error) {
    return [findingOf('clipboard-try', problem(messageOf(error), REPORT))]
  } finally {
    await Promise.allSettled([writer.close(), reader.close()])
    await rm(folder, { recursive: true, force: true })
  }
}

/** The copies that the reader sees. */
class Copies {
  kind = 'none'
  trouble: string | undefined
  take: (copied: CopiedContent) => void = () => undefined

  /** @throws {Error} When none comes. */
  async next(): Promise<CopiedContent> {
    const late = new AbortController()
    const copied = new Promise<CopiedContent>((resolve) => (this.take = resolve))
    const none = wait(ANSWER_MS, undefined, late).then(() => {
      const reason = this.trouble ?? 'no other program is told of it'
      throw new Error(`did not come back within ${ANSWER_MS / 1000} s: ${reason}`)
    })
    return Promise.race([copied, none]).finally(() => late.abort())
  }
}

async function tryOne(
  writer: ClipboardReconciler,
  copies: Copies,
  content: OfferedContent,
): Promise<Verdict> {
  const startedAt = systemClock.monotonic()
  const coming = copies.next()
  try {
    const [copied] = await Promise.all([coming, writer.offer(content)])
    const afterMs = Math.round(systemClock.monotonic() - startedAt)
    const difference = differenceOf(copied, content)
    if (difference === undefined) return fine(`came back after ${afterMs} ms`)
    return problem(`came back after ${afterMs} ms, ${difference}`, REPORT)
  } catch (error) {
    return problem(messageOf(error), REPORT)
  }
}

function differenceOf(copied: CopiedContent, offered: OfferedContent): string | undefined {
  if (copied.kind === 'text' && offered.kind === 'text') {
    return copied.text === offered.text ? undefined : 'with another text'
  }
  if (copied.kind === 'image' && offered.kind === 'image') {
    return PNG.equals(copied.bytes) ? undefined : `as other bytes (${copied.mediaType})`
  }
  if (copied.kind === 'files' && offered.kind === 'files') {
    return String(copied.paths) === String(offered.paths) ? undefined : 'under another path'
  }
  return `as ${copied.kind}`
}

function samples(path: string): readonly OfferedContent[] {
  return [
    { kind: 'text', text: TEXT },
    { kind: 'image', mediaType: 'image/png', blob: blobOf(PNG) },
    { kind: 'files', paths: [path] },
  ]
}

function blobOf(bytes: Buffer): Blob {
  return {
    size: bytes.length,
    modifiedAt: 0,
    open: async () => ({
      read: async (target, position) => bytes.copy(target, 0, position),
      close: async () => undefined,
    }),
  }
}

function describe(kind: string, { environment }: Situation['machine']): string {
  const desktop = environment['XDG_CURRENT_DESKTOP'] ?? environment['XDG_SESSION_TYPE']
  return [
    kind,
    ...(desktop === undefined ? [] : [desktop]),
    `${type()} ${release()} ${process.arch}`,
    `Node ${process.versions.node}`,
    `clipgate ${readVersion()}`,
  ].join(', ')
}
