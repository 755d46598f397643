/**
 * Gets from the name of a display to a connection that can be used, or to the reason why not.
 * @module
 */

import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { checkAuthority, connectDisplay, parseDisplay } from './x-display.ts'
import { loadX11, type X11Client, type X11Display, type XFixes } from './x11-library.ts'

/** The library's name for the extension. */
const XFIXES = 'fixes'

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
  const socket = connectDisplay(address)
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
