/**
 * Finds out whether a Wayland compositor lets programs that nobody looks at use the clipboard.
 *
 * Asks the compositor itself, over its socket. Running a tool to see whether it works would do
 * harm where it does not: without the data-control protocol, wl-clipboard opens a window to get
 * the keyboard.
 * @module
 */

import { connect } from 'node:net'
import { join } from 'node:path'
import { MIB } from '../../core/limits.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { Clock } from '../../lib/clock.ts'
import { UnusableYet } from '../clipboard-errors.ts'
import {
  formatWaylandMessage,
  parseAnnouncedInterface,
  splitWaylandMessages,
} from './wayland-messages.ts'

interface AskingOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal
}

type DataControl = 'wlr' | 'ext'

export const AWAY = 'The Wayland compositor is away'

export const NO_DATA_CONTROL =
  'The Wayland compositor does not let programs watch the clipboard: it lacks the data-control protocol'

/** Only mutter, and what is made of it, was seen to share its clipboard with X11 at any time. */
const MUTTER = 'gtk_shell1'

const KWIN = /^org_kde_/

/** KWin and wlroots show it to XWayland only while a window of that has the focus. */
const HIDES = 'may hide its clipboard from X11 programs that have no focus'

/** The warning for X11 programs beside any other compositor. */
export const MAY_HIDE: string = `the Wayland compositor ${HIDES}`

const ANSWER_MS = 2000

/** Compositors announce about 50 globals, of 40 bytes each. */
const MAX_ANSWER_BYTES: number = MIB

/** Objects: the first is there from the beginning, the others are named by us. */
const DISPLAY = 1
const REGISTRY = 2
const CALLBACK = 3

/** Requests of `wl_display`. */
const SYNC = 0
const GET_REGISTRY = 1

/** `wl_display.error`, `wl_registry.global`, `wl_callback.done`. */
const FIRST_EVENT = 0

/**
 * Where the compositor of these surroundings listens.
 *
 * @throws {Error} When there is none. The message is for people.
 */
export function waylandSocket(env: NodeJS.ProcessEnv): string {
  const { WAYLAND_DISPLAY: display = '', XDG_RUNTIME_DIR: folder = '' } = env
  if (display === '') throw new Error('There is no Wayland display: WAYLAND_DISPLAY is not set')
  if (display.startsWith('/')) return display
  if (folder === '')
    throw new Error('Cannot find the Wayland compositor: XDG_RUNTIME_DIR is not set')
  return join(folder, display)
}

/**
 * Which protocol the compositor at `socket` has for the clipboard; the older one, which every
 * wl-clipboard knows, if it has both.
 *
 * @throws {UnusableYet} When it has none, and XWayland is no way round it; when it has no seat, or
 *   does not answer within 2 s.
 * @throws {Error} {@link AWAY}, or {@link NO_DATA_CONTROL} where XWayland is a way round it.
 * @throws `signal.reason` when aborted.
 */
export async function findDataControl(
  socket: string,
  options: AskingOptions,
): Promise<DataControl> {
  const interfaces = await readInterfaces(socket, options)
  const isWlr = interfaces.has('zwlr_data_control_manager_v1')
  if (!isWlr && !interfaces.has('ext_data_control_manager_v1')) {
    if (interfaces.has(MUTTER)) throw new Error(NO_DATA_CONTROL)
    const name = [...interfaces].some((one) => KWIN.test(one)) ? 'Plasma' : 'it'
    throw new UnusableYet(`${NO_DATA_CONTROL}; update ${name}, as it ${HIDES}`)
  }
  if (!interfaces.has('wl_seat')) throw new UnusableYet('The Wayland compositor has no seat')
  return isWlr ? 'wlr' : 'ext'
}

/**
 * Whether the compositor of these surroundings, if there is one, is none that is known to share its
 * clipboard with X11 programs: what those see may be stale.
 */
export async function mayHideFromX11(
  env: NodeJS.ProcessEnv,
  options: AskingOptions,
): Promise<boolean> {
  if ((env['WAYLAND_DISPLAY'] ?? '') === '') return false
  try {
    return !(await readInterfaces(waylandSocket(env), options)).has(MUTTER)
  } catch {
    // A compositor that does not answer has no clipboard that X11 could be compared with.
    return false
  }
}

/** The names of everything that the compositor offers. */
async function readInterfaces(path: string, { clock, signal }: AskingOptions) {
  const interfaces = new Set<string>()
  const socket = connect(path)
  let cancelTimeout: () => void = () => undefined
  let onAbort: () => void = () => undefined
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted()
      onAbort = () => reject(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      const push = splitWaylandMessages(({ object, opcode, body }) => {
        if (opcode !== FIRST_EVENT) return
        if (object === REGISTRY) interfaces.add(parseAnnouncedInterface(body) ?? '')
        // The compositor answers in order: everything was announced before.
        if (object === CALLBACK) resolve()
        if (object === DISPLAY) reject(new Error('The Wayland compositor refuses to answer'))
      })
      socket.on('data', (chunk) => {
        try {
          push(chunk)
        } catch (error) {
          reject(error)
        }
        if (socket.bytesRead > MAX_ANSWER_BYTES)
          reject(new Error('The Wayland compositor says too much'))
      })
      socket.on('error', (error) => reject(describe(error)))
      socket.on('close', () => reject(new Error(AWAY)))
      const late = new UnusableYet('The Wayland compositor does not answer')
      cancelTimeout = clock.after(ANSWER_MS, () => reject(late))
      socket.write(formatWaylandMessage(DISPLAY, GET_REGISTRY, [REGISTRY]))
      socket.write(formatWaylandMessage(DISPLAY, SYNC, [CALLBACK]))
    })
    return interfaces
  } finally {
    cancelTimeout()
    signal?.removeEventListener('abort', onAbort)
    socket.destroy()
  }
}

function describe(error: Error): Error {
  const isForeign = codeOf(error) === 'EACCES'
  return new Error(
    isForeign ? 'Cannot use the Wayland compositor: it belongs to another user' : AWAY,
  )
}
