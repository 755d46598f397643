/**
 * One connection to an X server: promises with a time limit over the callbacks of the library, one
 * invisible window, and the events that matter to selections.
 *
 * Every answer is waited for a limited time; a server that takes longer is as good as dead. When
 * the connection ends, for whatever reason, all that waits is rejected, which the library does
 * not do. Protocol errors reject the call that caused them; none is ever thrown elsewhere.
 * @module
 */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { KIB } from '../../core/limits.ts'
import { COPY_FORMATS } from '../read-copy.ts'
import { openClient, type OpenClient, type XConnectionOptions } from './x-handshake.ts'
import type {
  X11Callback,
  X11Client,
  X11Event,
  X11Property,
  X11SelectionNotify,
  XFixes,
} from './x11-library.ts'

/** The atoms of the protocol. Their numbers belong to one run of one server. */
const ATOMS = [
  'ATOM',
  'ATOM_PAIR',
  'CLIPBOARD',
  'CLIPGATE_TIME',
  'INCR',
  'INTEGER',
  'MULTIPLE',
  'TARGETS',
  'TIMESTAMP',
] as const

type AtomName = (typeof ATOMS)[number]

/** Times are server times: milliseconds that wrap after 49 days. 0 stands for no window. */
export type SelectionEvent =
  /** From XFIXES: somebody took the clipboard, or (`owner` 0) it has no owner any more. */
  | Readonly<{ kind: 'ownerChanged'; owner: number; time: number }>
  /** We lost the clipboard. */
  | Readonly<{ kind: 'cleared'; time: number }>
  | SelectionRequest
  | ConversionAnswer
  | PropertyChange
  | Readonly<{ kind: 'destroyed'; window: number }>

/** Somebody wants what we offer. */
export type SelectionRequest = X11SelectionNotify & { readonly kind: 'requested' }

/** The answer to a conversion that we asked for; `property` 0 when it was refused. */
export type ConversionAnswer = Pick<X11SelectionNotify, 'target' | 'property' | 'time'> & {
  readonly kind: 'converted'
}

interface PropertyChange {
  readonly kind: 'property'
  readonly window: number
  readonly property: number
  readonly isDeleted: boolean
  readonly time: number
}

/** A part of a property, in bytes; both are multiples of four. */
interface PropertyPart {
  readonly offset: number
  readonly length: number
  /** Deletes the property when its end is reached, in the same step. */
  readonly isDeleting: boolean
}

interface NewProperty {
  readonly window: number
  readonly property: number
  /** The atom of its type. */
  readonly type: number
  /** Bytes, at most {@link XConnection.blockBytes} of them, or numbers of 32 bits. */
  readonly data: Buffer | readonly number[]
}

/** Bits of event masks. */
export const STRUCTURE_NOTIFY = 0x20000
export const PROPERTY_CHANGE = 0x400000

/** Numbers of events and of other things in the protocol. */
const PROPERTY_NOTIFY = 28
const DESTROY_NOTIFY = 17
const SELECTION_CLEAR = 29
const SELECTION_REQUEST = 30
const SELECTION_NOTIFY = 31
const PROPERTY_DELETED = 1
const INPUT_ONLY = 2
const ANY_TYPE = 0
const REPLACE = 0
const APPEND = 2

/** Set, window destroyed, client gone. */
const ALL_OWNER_CHANGES = 7

/** Header of `ChangeProperty`. */
const PROPERTY_HEADER_BYTES = 24

/**
 * Longest property that is written. The library cannot write more than 256 KiB at once, and old
 * servers take no more either.
 */
const MAX_BLOCK_BYTES: number = 240 * KIB

/** A connection to an X server. */
export class XConnection {
  /** Owns selections, and holds properties, whose changes are reported. */
  readonly window: number
  /** Longest property that can be written. */
  readonly blockBytes: number
  readonly #client: X11Client
  readonly #fixes: XFixes
  readonly #socket: Socket
  readonly #options: XConnectionOptions
  readonly #atoms = new Map<string, number>()
  readonly #waiting = new Set<(reason: Error) => void>()
  readonly #timeWaiters: ((time: number) => void)[] = []
  #failure: Error | undefined
  #onEvent: (event: SelectionEvent) => void = () => undefined
  #onClosed: (reason: Error) => void = () => undefined

  /** @throws {Error} When there is no server, or none that answers and has XFIXES. */
  static async open(options: XConnectionOptions): Promise<XConnection> {
    const connection = new XConnection(options, await openClient(options))
    try {
      const intern = async (name: string) =>
        connection.#atoms.set(name, await connection.internAtom(name))
      await Promise.all([...ATOMS, ...COPY_FORMATS].map(intern))
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  private constructor(options: XConnectionOptions, { client, display, fixes, socket }: OpenClient) {
    this.#options = options
    this.#socket = socket
    this.#client = client
    this.#fixes = fixes
    const writableBytes = 4 * display.max_request_length - PROPERTY_HEADER_BYTES
    this.blockBytes = Math.min(MAX_BLOCK_BYTES, writableBytes)
    this.window = client.AllocID()
    const root = display.screen[0]?.root ?? 0
    const values = { eventMask: PROPERTY_CHANGE }
    client.CreateWindow(this.window, root, 0, 0, 1, 1, 0, 0, INPUT_ONLY, 0, values)
    socket.once('close', () => this.#end(new Error('The connection to the X server is closed')))
    client.on('event', (raw) => {
      const event = decodeEvent(raw, fixes.firstEvent)
      if (event === undefined || this.#failure !== undefined) return
      if (this.#isTime(event)) this.#timeWaiters.shift()?.(event.time)
      else this.#onEvent(event)
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

  /** The number of a known atom. */
  atom(name: AtomName): number {
    return this.#atoms.get(name) ?? 0
  }

  /** The name of a format that can be read; `undefined` for any other atom. */
  nameOf(atom: number): string | undefined {
    return COPY_FORMATS.find((name) => this.#atoms.get(name) === atom)
  }

  internAtom(name: string): Promise<number> {
    return this.#ask((client, done) => client.InternAtom(false, name, done))
  }

  /** Asks the X server to report every change of the clipboard's owner. */
  watchClipboard(): void {
    const clipboard = this.atom('CLIPBOARD')
    this.#send(() => this.#fixes.SelectSelectionInput(this.window, clipboard, ALL_OWNER_CHANGES))
  }

  /** The window that owns the clipboard; 0 when none does. */
  clipboardOwner(): Promise<number> {
    const clipboard = this.atom('CLIPBOARD')
    return this.#ask((client, done) => client.GetSelectionOwner(clipboard, done))
  }

  /** Makes a window, or (0) none, the owner of a selection. */
  setSelectionOwner(owner: number, selection: number, time: number): void {
    this.#send((client) => client.SetSelectionOwner(owner, selection, time))
  }

  /** Asks the owner of the clipboard to write it to a property of our window. */
  convertClipboard(target: number, property: number, time: number): void {
    const clipboard = this.atom('CLIPBOARD')
    this.#send((client) => client.ConvertSelection(this.window, clipboard, target, property, time))
  }

  /** Tells a requestor that it was answered, or (`property` 0) refused. */
  sendSelectionNotify(event: X11SelectionNotify): Promise<void> {
    const named = { ...event, name: 'SelectionNotify' } as const
    return this.#ask((client, done) => client.SendEvent(event.requestor, 0, 0, named, done))
  }

  /** Sets which events of a window come here; does not change what others get. */
  selectInput(window: number, eventMask: number): Promise<void> {
    return this.#ask((client, done) => client.ChangeWindowAttributes(window, { eventMask }, done))
  }

  changeProperty({ window, property, type, data }: NewProperty): Promise<void> {
    const format = Buffer.isBuffer(data) ? 8 : 32
    return this.#ask((client, done) =>
      client.ChangeProperty(REPLACE, window, property, type, format, data, done),
    )
  }

  /** Deletes a property of our window. */
  deleteProperty(property: number): void {
    this.#send((client) => client.DeleteProperty(this.window, property))
  }

  getProperty(window: number, property: number, part: PropertyPart): Promise<X11Property> {
    const { offset, length, isDeleting } = part
    const [flag, from, count] = [isDeleting ? 1 : 0, offset / 4, length / 4]
    return this.#ask((client, done) =>
      client.GetProperty(flag, window, property, ANY_TYPE, from, count, done),
    )
  }

  /** Asks for the time of the server: that of a change that we make for that purpose. */
  async serverTime(): Promise<number> {
    const told = new Promise<number>((resolve) => this.#timeWaiters.push(resolve))
    const [property, type] = [this.atom('CLIPGATE_TIME'), this.atom('INTEGER')]
    await this.#ask<void>((client, done) =>
      client.ChangeProperty(APPEND, this.window, property, type, 8, Buffer.alloc(0), done),
    )
    return told
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

  #isTime(event: SelectionEvent): event is PropertyChange {
    if (event.kind !== 'property' || event.isDeleted || event.window !== this.window) return false
    return event.property === this.atom('CLIPGATE_TIME')
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

/**
 * Reads an event by its type: two different events are both named `SelectionNotify`.
 *
 * @param xfixesSelectionNotify Type of the one from XFIXES, which differs between servers.
 */
function decodeEvent(event: X11Event, xfixesSelectionNotify: number): SelectionEvent | undefined {
  const { selection, target, property, time } = event
  switch (event.type) {
    case xfixesSelectionNotify:
      return { kind: 'ownerChanged', owner: event.owner, time: event.timestamp }
    case SELECTION_CLEAR:
      return { kind: 'cleared', time }
    case SELECTION_REQUEST:
      return { kind: 'requested', requestor: event.requestor, selection, target, property, time }
    case SELECTION_NOTIFY:
      return { kind: 'converted', target, property, time }
    case PROPERTY_NOTIFY: {
      const isDeleted = event.state === PROPERTY_DELETED
      return { kind: 'property', window: event.wid, property: event.atom, isDeleted, time }
    }
    case DESTROY_NOTIFY:
      return { kind: 'destroyed', window: event.wid }
    default:
      return undefined
  }
}
