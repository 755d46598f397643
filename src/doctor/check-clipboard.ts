/** Which system clipboard is in use, or would be, and what keeps it from that. @module */

import { findClipboards } from '../daemon/open-system-clipboard.ts'
import { UnusableYet } from '../desktop/clipboard-errors.ts'
import { systemClock } from '../lib/clock.ts'
import { prepareWatch } from '../desktop/wayland/watch-command.ts'
import { XConnection } from '../desktop/x11/x-connection.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { ClipboardKind } from '../ports/system-clipboard.ts'
import { fine, hint, problem, type Verdict } from './finding.ts'
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
  if (clipboard !== 'none') return fine(`${clipboard} is in use`)
  if (settings.headless) return fine('none: headless')
  if (settings.clipboard === 'none') return fine('none is wanted')
  if (daemon !== undefined && daemon.status.mode === 'desktop') return fine('none is in use')
  const isTold = daemon && (await wasToldHeadless(daemon.holder.pid, machine))
  if (isTold === true) return fine('none: the daemon was started headless')

  const found = await findUsable(situation)
  const isUsable = typeof found === 'string'
  if (daemon === undefined) return isUsable ? fine(`${found} would be used`) : found
  if (isTold === false && !isUsable) return found
  const why = isUsable ? `${found} could be reached` : found.detail
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

/** Names the clipboard that a start would use, or says why it would use none. */
async function findUsable({ settings, machine }: Situation): Promise<string | Verdict> {
  const { platform, environment } = machine
  const kinds =
    settings.clipboard === undefined || settings.clipboard === 'none'
      ? findClipboards({ platform, env: environment })
      : [settings.clipboard]
  const reasons: string[] = []
  for (const kind of kinds) {
    const name = `${kind}${nameOfPlace(kind, environment)}`
    try {
      await reach(kind, environment)
      return [name, ...reasons].join('; ')
    } catch (error) {
      reasons.push(`${name} cannot be used: ${messageOf(error)}`)
      if (error instanceof UnusableYet) return problem(reasons.join('; '), AND_GOES_ON)
    }
  }
  if (kinds.length === 0) {
    reasons.push('neither WAYLAND_DISPLAY nor DISPLAY is set: this is no desktop session')
  }
  const fix = reasons.some((reason) => reason.includes('"x11"'))
    ? 'install it beside clipgate: npm install x11'
    : `${FROM_DESKTOP}, for DISPLAY, XAUTHORITY and WAYLAND_DISPLAY, ${HEADLESS}`
  return problem(reasons.join('; '), fix)
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
