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
  WaylandMessageSplitter,
} from './wayland-messages.ts'

interface AskingOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal
}

/** Which data-control protocol a compositor speaks. */
export type DataControl = 'wlr' | 'ext'

export const AWAY = 'The Wayland compositor is away'

export const NO_DATA_CONTROL =
  'The Wayland compositor does not let programs watch the clipboard: it lacks the data-control protocol'

/** KWin shows its clipboard to XWayland only while a window of that has the focus. */
const KWIN_LACKS = `${NO_DATA_CONTROL}; update Plasma, as KWin hides its clipboard from XWayland`

const KWIN = /^org_kde_/

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
 * @throws {UnusableYet} When it has none, and XWayland is no way round it.
 * @throws {Error} {@link AWAY}, {@link NO_DATA_CONTROL}, that it has no seat, or that it does not
 *   answer within 2 s.
 * @throws `signal.reason` when aborted.
 */
export async function findDataControl(
  socket: string,
  options: AskingOptions,
): Promise<DataControl> {
  const interfaces = await readInterfaces(socket, options)
  const isWlr = interfaces.has('zwlr_data_control_manager_v1')
  if (!isWlr && !interfaces.has('ext_data_control_manager_v1')) {
    const isKwin = [...interfaces].some((name) => KWIN.test(name))
    throw isKwin ? new UnusableYet(KWIN_LACKS) : new Error(NO_DATA_CONTROL)
  }
  if (!interfaces.has('wl_seat')) throw new Error('The Wayland compositor has no seat')
  return isWlr ? 'wlr' : 'ext'
}

/** The names of everything that the compositor offers. */
async function readInterfaces(
  path: string,
  { clock, signal }: AskingOptions,
): Promise<ReadonlySet<string>> {
  const interfaces = new Set<string>()
  const socket = connect(path)
  let cancelTimeout: () => void = () => undefined
  let onAbort: () => void = () => undefined
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted()
      onAbort = () => reject(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      const splitter = new WaylandMessageSplitter(({ object, opcode, body }) => {
        if (opcode !== FIRST_EVENT) return
        if (object === REGISTRY) interfaces.add(parseAnnouncedInterface(body) ?? '')
        // The compositor answers in order: everything was announced before.
        if (object === CALLBACK) resolve()
        if (object === DISPLAY) reject(new Error('The Wayland compositor refuses to answer'))
      })
      socket.on('data', (chunk) => {
        try {
          splitter.push(chunk)
        } catch (error) {
          reject(error)
        }
        if (socket.bytesRead > MAX_ANSWER_BYTES)
          reject(new Error('The Wayland compositor says too much'))
      })
      socket.on('error', (error) => reject(describe(error)))
      socket.on('close', () => reject(new Error(AWAY)))
      const late = new Error('The Wayland compositor does not answer')
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
