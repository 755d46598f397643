/**
 * Where an X server is, and the way there.
 *
 * The library would find it too, but falls back to TCP on localhost when a local server is away,
 * and gives the cookie of the session to whoever listens there. Here a local display is a local
 * socket and nothing else.
 * @module
 */

import { readFile } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'

export type DisplayAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number }

/** Displays on TCP listen from here on. */
const FIRST_PORT = 6000

const LAST_PORT = 65_535

const DISPLAY = /^(?:(unix|local|tcp|inet6?)\/)?(.*):(\d{1,5})(?:\.\d+)?$/

/** The address in a display name like `:0`, `host:10.0` or a path; `undefined` when malformed. */
export function parseDisplay(display: string): DisplayAddress | undefined {
  const match = DISPLAY.exec(display)
  if (match === null) return undefined
  const [, protocol = '', host = '', digits = ''] = match
  // The launchd sockets of macOS are paths, colon and number included.
  if (display.startsWith('/')) return { path: display }
  const isLocal = protocol === 'unix' || protocol === 'local' || host === 'unix'
  if (isLocal || (host === '' && protocol === '')) {
    return { path: `/tmp/.X11-unix/X${Number(digits)}` }
  }
  const port = FIRST_PORT + Number(digits)
  if (port > LAST_PORT) return undefined
  return { host: host === '' ? 'localhost' : host.replace(/^\[(.*)\]$/, '$1'), port }
}

/** Starts to connect. The socket reports the outcome. */
export function connectDisplay(address: DisplayAddress): Socket {
  const socket = createConnection(address)
  socket.setNoDelay(true)
  return socket
}

/**
 * Makes sure that the cookie file can be read, or is not there: the library throws where nobody
 * can catch it otherwise, and takes the program down.
 *
 * @throws {Error}
 */
export async function checkAuthority(): Promise<void> {
  try {
    await readFile(process.env['XAUTHORITY'] || join(homedir(), '.Xauthority'))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return
    throw new Error('Cannot read the file with the X server’s cookie (XAUTHORITY)', { cause })
  }
}
