/**
 * Gets from the name of a display to a connection that can be used, or to the reason why not.
 *
 * The library would find the server too, but falls back to TCP on localhost when a local server is
 * away, and gives the cookie of the session to whoever listens there. Here a local display is a
 * local socket and nothing else.
 * @module
 */

import { readFile } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../lib/system-error.ts'
import type { Clock } from '../../lib/clock.ts'
import { loadX11, type X11Client, type X11Display, type XFixes } from './x11-library.ts'

/** The library's name for the extension. */
const XFIXES = 'fixes'

/** Displays on TCP listen from here on. */
const FIRST_PORT = 6000

const LAST_PORT = 65_535

const DISPLAY = /^(?:(unix|local|tcp|inet6?)\/)?(.*):(\d{1,5})(?:\.\d+)?$/

type DisplayAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** How a connection is opened. */
export interface XConnectionOptions {
  readonly display: string
  readonly clock: Clock
  /** How long the server may take to answer. */
  readonly timeoutMs: number
  /** Told about errors that nobody waits for. */
  readonly onError: (error: Error) => void
}

/** A client of the library that the server has let in. */
export interface OpenClient {
  readonly client: X11Client
  readonly display: X11Display
  readonly fixes: XFixes
  readonly socket: Socket
}

/** @throws {Error} When there is no server, or none that answers and has XFIXES. */
export async function openClient(options: XConnectionOptions): Promise<OpenClient> {
  const { display: name, clock, timeoutMs } = options
  const address = parseDisplay(name)
  if (address === undefined) throw new Error('Cannot understand the name of the X display')
  await checkAuthority()
  const library = loadX11()
  const socket = createConnection(address).setNoDelay(true)
  return new Promise((resolve, reject) => {
    let isOpen = false
    const fail = (message: string, cause?: unknown): void => {
      cancel()
      socket.destroy()
      reject(new Error(message, { cause }))
    }
    const cancel = clock.after(timeoutMs, () => fail('The X server does not answer'))
    const fixed = { auth: undefined, shm: false, disableBigRequests: true } as const
    const settings = { ...fixed, display: name, stream: socket }
    const client = library.createClient(settings, (error, display) => {
      if (error !== undefined) return fail(`Cannot reach the X server: ${error.message}`, error)
      // The library keeps atoms in one object for all connections, but they belong to a server.
      client.atoms = {}
      client.atom_names = {}
      client.require(XFIXES, (missing, fixes) => {
        if (missing !== null) return fail('The X server lacks the XFIXES extension', missing)
        cancel()
        isOpen = true
        resolve({ client, display, fixes, socket })
      })
    })
    // A refusal comes only this way, and a hang-up right after the handshake in no way at all.
    client.on('error', (error) => {
      if (isOpen) options.onError(error)
      else fail(error.message, error)
    })
    socket.once('close', () => fail('The X server hung up'))
  })
}

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

/**
 * Makes sure that the cookie file can be read, or is not there: the library throws where nobody
 * can catch it otherwise, and takes the program down.
 */
async function checkAuthority(): Promise<void> {
  try {
    await readFile(process.env['XAUTHORITY'] || join(homedir(), '.Xauthority'))
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return
    throw new Error('Cannot read the file with the X server’s cookie (XAUTHORITY)', { cause })
  }
}
