/**
 * One connection to an X server: promises with a time limit over the callbacks of the library.
 *
 * Every answer is waited for a limited time; a server that takes longer is as good as dead. When
 * the connection ends, for whatever reason, all that waits is rejected, which the library does
 * not do. Protocol errors reject the call that caused them; none is ever thrown elsewhere.
 * @module
 */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { decodeEvent, type SelectionEvent } from './x-events.ts'
import { openClient, type OpenClient, type XConnectionOptions } from './x-handshake.ts'
import type {
  X11Callback,
  X11Client,
  X11Property,
  X11SelectionNotify,
  XFixes,
} from './x11-library.ts'

/** A part of a property, in bytes; both are multiples of four. */
export interface PropertyPart {
  readonly offset: number
  readonly length: number
  /** Deletes the property when its end is reached, in the same step. */
  readonly isDeleting: boolean
}

/** A property to be written. */
export interface NewProperty {
  readonly window: number
  readonly property: number
  readonly type: number
  readonly format: 8 | 32
  /** Numbers for format 32. At most {@link XConnection.maxPropertyBytes} bytes. */
  readonly data: Buffer | readonly number[]
  readonly mode?: 'replace' | 'append'
}

/** Bits of event masks. */
export const STRUCTURE_NOTIFY = 0x20000
export const PROPERTY_CHANGE = 0x400000

const INPUT_ONLY = 2
const ANY_TYPE = 0

/** Set, window destroyed, client gone. */
const ALL_OWNER_CHANGES = 7

/** Header of `ChangeProperty`. */
const PROPERTY_HEADER_BYTES = 24

/** A connection to an X server. */
export class XConnection {
  readonly maxPropertyBytes: number
  readonly #root: number
  readonly #client: X11Client
  readonly #fixes: XFixes
  readonly #socket: Socket
  readonly #options: XConnectionOptions
  readonly #waiting = new Set<(reason: Error) => void>()
  #failure: Error | undefined
  #onEvent: (event: SelectionEvent) => void = () => undefined
  #onClosed: (reason: Error) => void = () => undefined

  /** @throws {Error} When there is no server, or none that answers and has XFIXES. */
  static async open(options: XConnectionOptions): Promise<XConnection> {
    return new XConnection(options, await openClient(options))
  }

  private constructor(options: XConnectionOptions, { client, display, fixes, socket }: OpenClient) {
    const { screen, max_request_length } = display
    this.#options = options
    this.#socket = socket
    this.#client = client
    this.#fixes = fixes
    this.#root = screen[0]?.root ?? 0
    this.maxPropertyBytes = 4 * max_request_length - PROPERTY_HEADER_BYTES
    socket.once('close', () => this.#end(new Error('The connection to the X server is closed')))
    client.on('event', (raw) => {
      const event = decodeEvent(raw, fixes.firstEvent)
      if (event !== undefined && this.#failure === undefined) this.#onEvent(event)
    })
  }

  /** Sets who is told about events, in order. It does not throw. */
  onEvent(listener: (event: SelectionEvent) => void): void {
    this.#onEvent = listener
  }

  /** Sets who is told, once, that the connection has ended without `close`. */
  onClosed(listener: (reason: Error) => void): void {
    this.#onClosed = listener
  }

  internAtom(name: string): Promise<number> {
    return this.#ask((client, done) => client.InternAtom(false, name, done))
  }

  /** An invisible window that can own selections and hold properties. */
  createWindow(eventMask: number): number {
    const id = this.#client.AllocID()
    this.#send((client) =>
      client.CreateWindow(id, this.#root, 0, 0, 1, 1, 0, 0, INPUT_ONLY, 0, { eventMask }),
    )
    return id
  }

  /** Sets which events of a window come here; does not change what others get. */
  selectInput(window: number, eventMask: number): Promise<void> {
    return this.#ask((client, done) => client.ChangeWindowAttributes(window, { eventMask }, done))
  }

  /** Has all changes of the owner of a selection reported. */
  watchSelection(window: number, selection: number): void {
    this.#send(() => this.#fixes.SelectSelectionInput(window, selection, ALL_OWNER_CHANGES))
  }

  changeProperty({ window, property, type, format, data, mode }: NewProperty): Promise<void> {
    const how = mode === 'append' ? 2 : 0
    return this.#ask((client, done) =>
      client.ChangeProperty(how, window, property, type, format, data, done),
    )
  }

  deleteProperty(window: number, property: number): void {
    this.#send((client) => client.DeleteProperty(window, property))
  }

  getProperty(window: number, property: number, part: PropertyPart): Promise<X11Property> {
    const { offset, length, isDeleting } = part
    const [from, count] = [offset / 4, length / 4]
    return this.#ask((client, done) =>
      client.GetProperty(isDeleting ? 1 : 0, window, property, ANY_TYPE, from, count, done),
    )
  }

  setSelectionOwner(owner: number, selection: number, time: number): void {
    this.#send((client) => client.SetSelectionOwner(owner, selection, time))
  }

  /** The window that owns a selection; 0 when none does. */
  getSelectionOwner(selection: number): Promise<number> {
    return this.#ask((client, done) => client.GetSelectionOwner(selection, done))
  }

  convertSelection(
    requestor: number,
    asked: { selection: number; target: number; property: number; time: number },
  ): void {
    const { selection, target, property, time } = asked
    this.#send((client) => client.ConvertSelection(requestor, selection, target, property, time))
  }

  sendSelectionNotify(event: Omit<X11SelectionNotify, 'name'>): Promise<void> {
    const named = { name: 'SelectionNotify', ...event } as const
    return this.#ask((client, done) => client.SendEvent(event.requestor, 0, 0, named, done))
  }

  /** Hangs up. The listeners hear nothing of it, nor of anything else. */
  async close(): Promise<void> {
    this.#onEvent = () => undefined
    this.#onClosed = () => undefined
    this.#end(new Error('The clipboard was closed'))
    if (this.#socket.closed) return
    const cancel = this.#options.clock.after(this.#options.timeoutMs, () => this.#socket.destroy())
    await once(this.#socket, 'close')
    cancel()
  }

  #send(request: (client: X11Client) => void): void {
    if (this.#failure === undefined) request(this.#client)
  }

  #ask<T>(request: (client: X11Client, done: X11Callback<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      const settle = (): void => {
        cancel()
        this.#waiting.delete(fail)
      }
      const fail = (reason: Error): void => {
        settle()
        reject(reason)
      }
      const cancel = this.#options.clock.after(this.#options.timeoutMs, () =>
        this.#end(new Error('The X server does not answer')),
      )
      this.#waiting.add(fail)
      request(this.#client, (error, result) => {
        settle()
        if (error) reject(new Error(`The X server refused a request: ${error.message}`))
        else resolve(result)
        return true
      })
    })
  }

  #end(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    this.#socket.destroySoon()
    for (const reject of this.#waiting) reject(reason)
    this.#onClosed(reason)
  }
}
