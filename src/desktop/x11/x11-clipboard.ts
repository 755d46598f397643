/**
 * The clipboard of an X11 desktop: the selection `CLIPBOARD`, never `PRIMARY`, which changes with
 * every word that is marked.
 *
 * Events of the XFIXES extension tell about copies; nothing is polled and no tool is run. When the
 * X server is lost, the clipboard comes back by itself as soon as the server does.
 * @module
 */

import { KIB } from '../../core/limits.ts'
import { messageOf } from '../../lib/describe-failure.ts'
import type {
  ClipboardOwner,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../ports/system-clipboard.ts'
import { OutOfReach } from '../clipboard-errors.ts'
import { COPY_LIMITS, readCopy, type AdapterOptions } from '../read-copy.ts'
import { nextRetry } from '../../lib/back-off.ts'
import { SelectionOwner } from './selection-owner.ts'
import { SelectionReader } from './selection-reader.ts'
import { XConnection } from './x-connection.ts'

interface X11ClipboardOptions extends AdapterOptions {
  /** Name of the display; that of the environment (`DISPLAY`) when absent. */
  readonly display?: string | undefined
}

/** One connection to one X server, and what it is used for. */
interface Session {
  readonly connection: XConnection
  readonly reader: SelectionReader
  readonly owner: SelectionOwner
}

/** How long the server may take for any answer. */
const ANSWER_MS = 2000

/** Bytes of a list of formats; far more than any program has. */
const MAX_TARGETS_BYTES: number = 16 * KIB

const ATOM_BYTES = 4

/** Formats to try with a program that has no list of its formats. */
const LEGACY_TARGETS: readonly string[] = ['UTF8_STRING', 'STRING']

const AWAY = 'The X server is away'

/** The clipboard of an X server. */
export class X11Clipboard implements SystemClipboard {
  readonly kind = 'x11'
  readonly #options: X11ClipboardOptions
  readonly #display: string
  /** `undefined` while the server is away. */
  #session: Session | undefined
  /** The last change of the owner, in server time. */
  #changedAt = 0
  /** Grows with every change of the owner. */
  #changes = 0
  #cancelRetry: () => void = () => undefined
  /** An attempt to reach the server again. */
  #attempt: Promise<void> = Promise.resolve()
  #isClosed = false

  /**
   * @throws {Error} When there is no X server, it does not answer within 2 s, it lacks XFIXES, or
   *   the package `x11` is not installed. The message is for people.
   */
  static async open(options: X11ClipboardOptions): Promise<X11Clipboard> {
    const display = options.display ?? process.env['DISPLAY'] ?? ''
    if (display === '') throw new Error('There is no X display: DISPLAY is not set')
    const clipboard = new X11Clipboard(options, display)
    const firstOwner = await clipboard.#connect()
    if (!options.readAtStart) return clipboard
    if (firstOwner !== 'nobody') void clipboard.#catchUp(firstOwner, 0)
    else if (clipboard.#changes === 0) options.events.onChange('nobody')
    return clipboard
  }

  private constructor(options: X11ClipboardOptions, display: string) {
    this.#options = options
    this.#display = display
  }

  read(signal: AbortSignal): Promise<CopiedContent | undefined> {
    const time = this.#changedAt
    return this.#inReach(({ connection, reader }) => {
      const readTarget = async (
        name: string,
        maxBytes: number,
      ): Promise<Uint8Array | undefined> => {
        const target = await connection.internAtom(name)
        return reader.convert({ target, time, maxBytes, signal })
      }
      const targets = async (): Promise<readonly string[]> => {
        const list = await readTarget('TARGETS', MAX_TARGETS_BYTES)
        return list === undefined ? LEGACY_TARGETS : namesOf(list, connection)
      }
      const limits = { ...COPY_LIMITS, ...this.#options.limits }
      return readCopy({ targets, read: readTarget }, limits, signal)
    })
  }

  write(content: OfferedContent): Promise<void> {
    return this.#inReach(({ owner }) => owner.offer(content))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry()
    await this.#hangUp()
    await this.#attempt
  }

  /** @throws {OutOfReach} When the server was away, or went away meanwhile. */
  async #inReach<T>(use: (session: Session) => Promise<T>): Promise<T> {
    const session = this.#session
    if (session === undefined) throw new OutOfReach(AWAY)
    try {
      return await use(session)
    } catch (error) {
      throw session === this.#session ? error : new OutOfReach(messageOf(error))
    }
  }

  /** @returns Who owned the clipboard when the watching began. */
  async #connect(): Promise<ClipboardOwner> {
    const { clock, logger } = this.#options
    const display = this.#display
    const onError = (error: Error): void => logger.debug('X error', { reason: error.message })
    const connection = await XConnection.open({ display, clock, timeoutMs: ANSWER_MS, onError })
    try {
      const reader = await SelectionReader.open(connection, clock)
      const owner = new SelectionOwner({ connection, clock, logger })
      connection.onEvent((event) => {
        reader.handle(event)
        owner.handle(event)
        if (event.kind !== 'ownerChanged') return
        this.#onOwnerChanged(nameOwner(event.owner, connection), event.time)
      })
      connection.watchClipboard()
      const firstOwner = await connection.clipboardOwner()
      connection.onClosed((reason) => {
        void owner.endPastes()
        this.#onLost(reason)
      })
      this.#session = { connection, reader, owner }
      return nameOwner(firstOwner, connection)
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  /** Lets go of the clipboard, and of the server. */
  async #hangUp(): Promise<void> {
    if (this.#session === undefined) return
    const { connection, owner } = this.#session
    try {
      await owner.release()
    } catch (error) {
      // Whoever hangs up loses the clipboard anyway.
      this.#options.logger.debug('Could not release the clipboard', { reason: String(error) })
    }
    await connection.close()
  }

  #onOwnerChanged(owner: ClipboardOwner, time: number): void {
    if (this.#isClosed) return
    this.#changes += 1
    this.#changedAt = time
    this.#options.events.onChange(owner)
  }

  #onLost(reason: Error): void {
    if (this.#isClosed) return
    this.#session = undefined
    this.#options.logger.debug('Lost the X server', { reason: reason.message })
    this.#options.events.onLost(AWAY)
    this.#retryAfter(undefined)
  }

  #retryAfter(lastMs: number | undefined): void {
    const delayMs = nextRetry(lastMs)
    this.#cancelRetry = this.#options.clock.after(delayMs, () => {
      this.#attempt = this.#retry(delayMs)
    })
  }

  async #retry(delayMs: number): Promise<void> {
    const changes = this.#changes
    try {
      const firstOwner = await this.#connect()
      if (this.#isClosed) return await this.#hangUp()
      this.#options.logger.debug('The X server is back')
      this.#options.events.onTrouble(undefined)
      await this.#catchUp(firstOwner, changes)
    } catch (error) {
      if (this.#isClosed) return
      this.#options.logger.debug('The X server is still away', { reason: messageOf(error) })
      this.#retryAfter(delayMs)
    }
  }

  /**
   * Learns what happened before we watched: a copy counts for more than what we would offer.
   *
   * @param changes How many changes were known then: later ones are dealt with already.
   */
  async #catchUp(firstOwner: ClipboardOwner, changes: number): Promise<void> {
    if (firstOwner !== 'another') return this.#options.events.onBack(true)
    try {
      const time = await this.#inReach(({ connection }) => connection.serverTime())
      if (changes === this.#changes) this.#onOwnerChanged('found', time)
    } catch (error) {
      this.#options.logger.debug('Cannot catch up with the clipboard', { reason: messageOf(error) })
    }
  }
}

function nameOwner(window: number, connection: XConnection): ClipboardOwner {
  if (window === 0) return 'nobody'
  return window === connection.window ? 'us' : 'another'
}

/** The names of the known atoms in a list. */
function namesOf(bytes: Uint8Array, connection: XConnection): readonly string[] {
  const list = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const names: string[] = []
  for (let at = 0; at + ATOM_BYTES <= list.length; at += ATOM_BYTES) {
    const name = connection.nameOf(list.readUInt32LE(at))
    if (name !== undefined) names.push(name)
  }
  return names
}
