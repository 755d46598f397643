/**
 * Which system clipboard is in use, or would be, and what keeps it from that.
 *
 * @module
 */

import { stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { messageOf } from '../lib/message-of.ts'
import type { Clock } from '../ports/clock.ts'
import { XConnection } from '../desktop/x11/x-connection.ts'
import { systemClock } from '../daemon/system-clock.ts'
import { findPlace, findTrouble } from './check-data-directory.ts'
import { fine, hint, problem, type Finding } from './finding.ts'
import { readSystemFile, type Machine } from './machine.ts'
import type { Situation } from './situation.ts'

const CHECK = 'clipboard'

const ANSWER_MS = 3000

const HEADLESS =
  'or say that none is wanted: --headless, or --clipboard none to serve phones all the same'

export async function checkClipboard(situation: Situation): Promise<Finding> {
  const { daemon, settings, machine } = situation
  if (daemon !== undefined && daemon.status.clipboard !== 'none') {
    const { clipboard, clipboardError } = daemon.status
    if (clipboardError === undefined) return fine(CHECK, `${clipboard} is in use`)
    return problem(
      CHECK,
      `${clipboard}: ${clipboardError}`,
      'start the daemon again from a terminal of the desktop session',
    )
  }
  if (settings.headless) return fine(CHECK, 'none: headless')
  if (settings.clipboard === 'none') return fine(CHECK, 'none is wanted')
  if (daemon !== undefined && daemon.status.mode === 'desktop') return fine(CHECK, 'none is in use')
  const isTold = daemon === undefined ? false : await wasToldHeadless(daemon.holder.pid, machine)
  if (isTold === true) return fine(CHECK, 'none: the daemon was started headless')

  const choice = settings.clipboard ?? (machine.platform === 'linux' ? 'x11' : machine.platform)
  if (choice !== 'x11') {
    return problem(CHECK, `the clipboard of ${choice} is not supported in this version`, HEADLESS)
  }
  const trouble = await checkX11(situation, systemClock)
  if (daemon === undefined) {
    return trouble ?? fine(CHECK, `x11 on ${machine.environment['DISPLAY']} would be used`)
  }
  if (isTold === false && trouble !== undefined) return trouble
  const why = trouble === undefined ? 'x11 could be reached' : trouble.detail
  return hint(
    CHECK,
    `the daemon is headless; from here, ${why}`,
    'if that is not wanted, start the daemon from a terminal of the desktop session',
  )
}

/**
 * Whether a daemon was told to be headless, and is not so for want of a clipboard; settings of its
 * own call are not in those that we have read. `undefined` where nobody tells.
 */
async function wasToldHeadless(pid: number, machine: Machine): Promise<boolean | undefined> {
  const call = await readSystemFile(machine, `proc/${pid}/cmdline`)
  const environment = await readSystemFile(machine, `proc/${pid}/environ`)
  if (call === undefined || environment === undefined) return undefined
  if (call.split('\0').includes('--headless')) return true
  return environment.split('\0').includes('CLIPGATE_HEADLESS=true')
}

/** Whether pushed files can land, where there is a clipboard to offer them. */
export async function checkReceivedFolder({ daemon, settings }: Situation): Promise<Finding> {
  const check = 'received-folder'
  const isUsed =
    daemon === undefined
      ? !settings.headless && settings.clipboard !== 'none'
      : daemon.status.clipboard !== 'none'
  if (!isUsed)
    return fine(check, 'none: without a clipboard, pushed files stay in the data directory')
  const { receivedDir } = settings
  const place = await findPlace(receivedDir)
  const trouble = place.isFolder ? await findTrouble(place.path) : 'it is not a folder'
  if (trouble !== undefined) {
    const fix = 'make it a folder that this user can write to, or set --received-dir'
    return problem(check, `${place.path} cannot take pushed files: ${trouble}`, fix)
  }
  return fine(
    check,
    place.path === receivedDir ? receivedDir : `${receivedDir} is made when needed`,
  )
}

async function checkX11({ machine }: Situation, clock: Clock): Promise<Finding | undefined> {
  const { DISPLAY: display, WAYLAND_DISPLAY: wayland } = machine.environment
  if (display === undefined || display === '') {
    return wayland === undefined || wayland === ''
      ? problem(
          CHECK,
          'DISPLAY is not set: this is no desktop session, and a daemon goes on headless',
          `start it from a terminal of the desktop, ${HEADLESS}`,
        )
      : problem(
          CHECK,
          `Wayland without XWayland (no DISPLAY). ${await describeWayland(wayland, machine)}`,
          `switch XWayland on in the compositor, ${HEADLESS}`,
        )
  }
  try {
    const options = { display, clock, timeoutMs: ANSWER_MS, onError: () => undefined }
    const connection = await XConnection.open(options)
    await connection.close()
    return undefined
  } catch (error) {
    const reason = messageOf(error)
    const fix = reason.includes('package')
      ? 'install it beside clipgate: npm install x11'
      : `start it from a terminal of the desktop, for DISPLAY and XAUTHORITY, ${HEADLESS}`
    return problem(CHECK, `x11 cannot be used on ${display}: ${reason}`, fix)
  }
}

/** What an adapter for Wayland would need, said plainly: this version has none. */
async function describeWayland(name: string, { environment }: Machine): Promise<string> {
  const path = isAbsolute(name) ? name : join(environment['XDG_RUNTIME_DIR'] ?? '/run', name)
  const socket = await isThere(path)
  const folders = (environment['PATH'] ?? '').split(delimiter)
  const tools = await Promise.all(folders.map((folder) => isThere(join(folder, 'wl-paste'))))
  return [
    'This version does not speak Wayland itself',
    socket ? 'its socket is there' : `its socket ${path} is not there`,
    tools.includes(true) ? 'wl-clipboard is installed' : 'wl-clipboard is not installed',
  ].join('; ')
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch {
    // Hidden is as good as missing here.
    return false
  }
}
