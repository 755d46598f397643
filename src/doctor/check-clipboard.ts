/**
 * Which system clipboard is in use, or would be, and what keeps it from that. On request it also
 * copies a text, an image and a file, and reads them back as another program: a report about a
 * clipboard that nobody here has needs to say how that went. Where X11 is the way to the clipboard
 * of a Wayland desktop, a program of that reads them as well.
 * @module
 */

import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { release, tmpdir, type } from 'node:os'
import { join } from 'node:path'
import { findClipboards, openSystemClipboard } from '../daemon/open-system-clipboard.ts'
import { readVersion } from '../daemon/version.ts'
import { UnusableYet } from '../desktop/clipboard-errors.ts'
import { NEVER_PAUSED } from '../desktop/clipboard-pause.ts'
import { ClipboardReconciler } from '../desktop/clipboard-reconciler.ts'
import { COPY_LIMITS } from '../desktop/read-copy.ts'
import { MAY_HIDE, mayHideFromX11 } from '../desktop/wayland/data-control.ts'
import { prepareWatch, toolEnvironment } from '../desktop/wayland/watch-command.ts'
import { pasteCopy } from '../desktop/wayland/wl-paste.ts'
import { XConnection } from '../desktop/x11/x-connection.ts'
import { systemClock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { findProgram } from '../lib/find-program.ts'
import type { Logger } from '../ports/logger.ts'
import type { ClipboardKind, CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { fine, findingOf, hint, problem, type Finding, type Verdict } from './finding.ts'
import { type Machine, readSystemFile, type Situation } from './situation.ts'

const ANSWER_MS = 3000

const FROM_DESKTOP = 'start it from a terminal of the desktop'

const INSTALL = /: install |; update /

const AND_GOES_ON = 'do that; a daemon that runs tries again by itself'

const HEADLESS =
  'or say that none is wanted: --headless, or --clipboard none to serve phones all the same'

/** Looks at the clipboard that a daemon uses, or at those that a start would try. */
export async function checkClipboard(situation: Situation): Promise<Verdict> {
  const { daemon, settings, machine } = situation
  const { clipboard = 'none', clipboardError } = daemon?.status ?? {}
  if (clipboardError !== undefined) {
    const fix = INSTALL.test(clipboardError)
      ? AND_GOES_ON
      : 'start the daemon again from a terminal of the desktop session'
    return problem(`${clipboard}: ${clipboardError}`, fix)
  }
  if (clipboard !== 'none') return judgeWay(clipboard, `${clipboard} is in use`, machine)
  if (settings.headless) return fine('none: headless')
  if (settings.clipboard === 'none') return fine('none is wanted')
  if (daemon !== undefined && daemon.status.mode === 'desktop') return fine('none is in use')
  const isTold = daemon && (await wasToldHeadless(daemon.holder.pid, machine))
  if (isTold === true) return fine('none: the daemon was started headless')

  const found = await findUsable(situation)
  if ('kind' in found && daemon === undefined) {
    return judgeWay(found.kind, `${found.words} would be used`, machine)
  }
  if ('ok' in found && (daemon === undefined || isTold === false)) return found
  const why = 'kind' in found ? `${found.words} could be reached` : found.detail
  return hint(
    `the daemon is headless; from here, ${why}`,
    'if that is not wanted, start the daemon from a terminal of the desktop session',
  )
}

/**
 * Whether a daemon was told to be headless, instead of having found no clipboard: the settings of
 * its call are not in those that we have read. `undefined` where the system does not say.
 */
async function wasToldHeadless(pid: number, machine: Machine): Promise<boolean | undefined> {
  const call = await readSystemFile(machine, `proc/${pid}/cmdline`)
  const environment = await readSystemFile(machine, `proc/${pid}/environ`)
  if (call === undefined || environment === undefined) return undefined
  if (call.split('\0').includes('--headless')) return true
  return environment.split('\0').includes('CLIPGATE_HEADLESS=true')
}

/** X11 works as well beside a compositor that hides its clipboard from it: nothing else tells. */
async function judgeWay(kind: string, detail: string, { environment }: Machine): Promise<Verdict> {
  const mayHide = kind === 'x11' && (await mayHideFromX11(environment, { clock: systemClock }))
  if (!mayHide) return fine(detail)
  const fix =
    'if DISPLAY is of that desktop: start it with WAYLAND_DISPLAY, and without --clipboard'
  return hint(`${detail}, and ${MAY_HIDE}`, fix)
}

/** A clipboard that a start would use, and what there is to say of it. */
interface Usable {
  readonly kind: ClipboardKind
  readonly words: string
}

/** Finds the clipboard that a start would use, or says why it would use none. */
async function findUsable({ settings, machine }: Situation): Promise<Usable | Verdict> {
  const { environment } = machine
  const kinds =
    settings.clipboard === undefined || settings.clipboard === 'none'
      ? findClipboards(machine)
      : [settings.clipboard]
  const reasons: string[] = []
  for (const kind of kinds) {
    const name = `${kind}${nameOfPlace(kind, environment)}`
    try {
      await reach(kind, environment)
      return { kind, words: [name, ...reasons].join('; ') }
    } catch (error) {
      reasons.push(`${name} cannot be used: ${messageOf(error)}`)
      if (error instanceof UnusableYet) break
    }
  }
  if (kinds.length === 0) {
    reasons.push('neither WAYLAND_DISPLAY nor DISPLAY is set: this is no desktop session')
  }
  const reason = reasons.join('; ')
  const fix = `${FROM_DESKTOP}, for DISPLAY, XAUTHORITY and WAYLAND_DISPLAY, ${HEADLESS}`
  return problem(reason, INSTALL.test(reason) ? AND_GOES_ON : fix)
}

function nameOfPlace(kind: ClipboardKind, environment: Machine['environment']): string {
  if (kind === 'x11') return ` on ${environment['DISPLAY'] ?? 'no DISPLAY'}`
  return kind === 'wayland' ? ` on ${environment['WAYLAND_DISPLAY'] ?? 'no WAYLAND_DISPLAY'}` : ''
}

/** Leaves the clipboard alone. @throws {Error} saying what is missing; not on macOS and Windows. */
async function reach(kind: ClipboardKind, environment: Machine['environment']): Promise<void> {
  if (kind === 'wayland') await prepareWatch(environment, systemClock)
  if (kind !== 'x11') return
  const { DISPLAY: display = '' } = environment
  if (display === '') throw new Error('DISPLAY is not set')
  const options = { display, clock: systemClock, timeoutMs: ANSWER_MS, onError: () => undefined }
  await (await XConnection.open(options)).close()
}

/** Programs of a desktop may be slow, and a clipboard may be held by one for a moment. */
const COPY_MS = 5000

const TEXT = 'clipgate doctor: ä 世界 👋'

/** One red pixel. */
const PNG: Buffer = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4wMAAAAJEAMGTjGgiAAAAAElFTkSuQmCC',
  'base64',
)

const NOT_SEEN = 'no other program hears of it'

const HIDDEN =
  'with a compositor that has data-control, leave out --clipboard; else please report it'

const REPORT = 'please report it, with all that "clipgate doctor --try-clipboard" says'

/** Replaces what is on the clipboard, and leaves it empty or with the last of what it tried. */
export async function tryClipboard(
  { settings, machine, daemon }: Situation,
  logger: Logger,
): Promise<readonly Finding[]> {
  const isShared = daemon !== undefined && daemon.status.clipboard !== 'none'
  if (isShared && daemon.status.paused === undefined) {
    const reason = 'the daemon that runs would share what is tried'
    return [findingOf('clipboard-try', problem(reason, 'first: clipgate pause 1m'))]
  }
  const kind = settings.clipboard === 'none' ? undefined : settings.clipboard
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-doctor-'))
  const copies = new EventEmitter()
  let name = 'none'
  let trouble: string | undefined
  const open = (onCopy: (copied: CopiedContent) => void): ClipboardReconciler => {
    const common = { clock: systemClock, logger, limits: COPY_LIMITS }
    const openSystem = async (events: Parameters<typeof openSystemClipboard>[1]['events']) => {
      const system = await openSystemClipboard(kind, { ...common, events, readAtStart: false })
      name = system.kind
      return system
    }
    const onTrouble = (message: string | undefined): void => {
      trouble = message
    }
    return new ClipboardReconciler(openSystem, {
      ...common,
      pause: NEVER_PAUSED,
      onCopy,
      onTrouble,
    })
  }
  const reader = open((copied) => copies.emit('copy', copied))
  const writer = open(() => undefined)

  const tryOne = async (content: OfferedContent): Promise<Verdict> => {
    const startedAt = systemClock.monotonic()
    const signal = AbortSignal.timeout(COPY_MS)
    try {
      const coming = once(copies, 'copy', { signal })
      const [[copied]] = await Promise.all([coming, writer.offer(content)])
      const came = `came back after ${Math.round(systemClock.monotonic() - startedAt)} ms`
      const difference = differenceOf(copied, content)
      if (difference !== undefined) return problem(`${came}, ${difference}`, REPORT)
      return name === 'x11' ? await readThroughWayland(content, came, machine) : fine(came)
    } catch (error) {
      const late = `did not come back within ${COPY_MS / 1000} s: ${trouble ?? NOT_SEEN}`
      return problem(signal.aborted ? late : messageOf(error), REPORT)
    }
  }

  try {
    await Promise.all([reader.opened(), writer.opened()])
    const path = join(folder, 'clipgate ä.txt')
    await writeFile(path, TEXT)
    const tried: Finding[] = [findingOf('clipboard-system', fine(describe(name, machine)))]
    for (const content of samples(path)) {
      const verdict = await tryOne(content)
      tried.push(findingOf(`clipboard-${content.kind}`, verdict))
      // The others would not come through either, after as long.
      if (verdict.fix === HIDDEN) break
    }
    return tried
  } catch (error) {
    return [findingOf('clipboard-try', problem(messageOf(error), REPORT))]
  } finally {
    await Promise.allSettled([writer.close(), reader.close()])
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads what X11 programs read as a program of the Wayland desktop would, where that is one. */
async function readThroughWayland(content: OfferedContent, came: string, { environment }: Machine) {
  if ((environment['WAYLAND_DISPLAY'] ?? '') === '') return fine(came)
  const env = toolEnvironment(environment)
  if ((await findProgram('wl-paste', env)) === undefined) {
    return hint(`${came}; it was not read as a program of Wayland`, 'for that: wl-clipboard')
  }
  const signal = AbortSignal.timeout(ANSWER_MS)
  try {
    const read = await pasteCopy({ env, clock: systemClock, limits: COPY_LIMITS, signal })
    const isNothing = read === undefined || read === 'overtaken'
    const difference = isNothing ? 'but not' : differenceOf(read, content)
    if (difference === undefined) return fine(`${came}, to programs of Wayland as well`)
    return problem(`${came}, ${difference} to programs of Wayland`, HIDDEN)
  } catch (error) {
    return problem(`${came}; as a program of Wayland: ${messageOf(error)}`, HIDDEN)
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
  const read = async (target: Uint8Array, position: number) => PNG.copy(target, 0, position)
  const open = async () => ({ read, close: async () => undefined })
  return [
    { kind: 'text', text: TEXT },
    { kind: 'image', mediaType: 'image/png', blob: { size: PNG.length, open } },
    { kind: 'files', paths: [path] },
  ]
}

function describe(kind: string, { environment }: Machine): string {
  const desktop = environment['XDG_CURRENT_DESKTOP'] ?? environment['XDG_SESSION_TYPE']
  return [
    kind,
    ...(desktop === undefined ? [] : [desktop]),
    `${type()} ${release()} ${process.arch}`,
    `Node ${process.versions.node}`,
    `clipgate ${readVersion()}`,
  ].join(', ')
}
