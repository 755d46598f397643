/**
 * The clipboard during one connection to one X server.
 * @module
 */

import { KIB } from '../../core/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ClipboardOwner, CopiedContent, OfferedContent } from '../../ports/system-clipboard.ts'
import { readCopy, type CopyLimits } from '../read-copy.ts'
import { SelectionOwner } from './selection-owner.ts'
import { SelectionReader } from './selection-reader.ts'
import { type SelectionEvent, XConnection } from './x-connection.ts'

/** How a session is opened. */
export interface XSessionOptions {
  readonly display: string
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: CopyLimits
  /**
   * Somebody took the clipboard, or (`nobody`) it was cleared, or its owner is gone. The time is
   * that of the server. May be called before `open` has resolved.
   */
  readonly onOwnerChanged: (owner: ClipboardOwner, time: number) => void
  /** The connection is lost, after it was open. */
  readonly onClosed: (reason: Error) => void
}

/** How long the server may take for any answer. */
const ANSWER_MS = 2000

/** Bytes of a list of formats; far more than any program has. */
const MAX_TARGETS_BYTES: number = 16 * KIB

const ATOM_BYTES = 4

/** Formats to try with a program that has no list of its formats. */
const LEGACY_TARGETS: readonly string[] = ['UTF8_STRING', 'STRING']

/** One life of the connection to an X server, with everything that ends with it. */
export class XSession {
  readonly #connection: XConnection
  readonly #options: XSessionOptions
  readonly #reader: SelectionReader
  readonly #owner: SelectionOwner
  #firstOwner: ClipboardOwner = 'nobody'

  /** @throws {Error} When there is no server that can be used. */
  static async open(options: XSessionOptions): Promise<XSession> {
    const { display, clock, logger } = options
    const onError = (error: Error): void => logger.debug('X error', { reason: error.message })
    const connection = await XConnection.open({ display, clock, timeoutMs: ANSWER_MS, onError })
    try {
      const reader = await SelectionReader.open(connection, clock)
      const session = new XSession(connection, reader, options)
      connection.watchClipboard()
      session.#firstOwner = session.#nameOwner(await connection.clipboardOwner())
      connection.onClosed((reason) => {
        void session.#owner.lose()
        options.onClosed(reason)
      })
      return session
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  private constructor(connection: XConnection, reader: SelectionReader, options: XSessionOptions) {
    const { clock, logger } = options
    this.#connection = connection
    this.#options = options
    this.#reader = reader
    this.#owner = new SelectionOwner({ connection, clock, logger })
    connection.onEvent((event) => this.#handle(event))
  }

  /** Who owned the clipboard when the watching began. */
  get firstOwner(): ClipboardOwner {
    return this.#firstOwner
  }

  /** Asks for the time of the server. */
  serverTime(): Promise<number> {
    return this.#connection.serverTime()
  }

  /** @throws {Error} When another program took the clipboard, or the server is gone. */
  offer(content: OfferedContent): Promise<void> {
    return this.#owner.offer(content)
  }

  /**
   * Reads the clipboard; `undefined` when nothing on it can be shared.
   *
   * @param time Server time of the event that told about it.
   * @throws {Error} With a message for people; `signal.reason` when aborted.
   */
  read(time: number, signal: AbortSignal): Promise<CopiedContent | undefined> {
    const read = async (target: string, maxBytes: number): Promise<Uint8Array | undefined> => {
      const atom = await this.#connection.internAtom(target)
      return this.#reader.convert({ target: atom, time, maxBytes, signal })
    }
    const targets = async (): Promise<readonly string[]> => {
      const list = await read('TARGETS', MAX_TARGETS_BYTES)
      return list === undefined ? LEGACY_TARGETS : this.#namesOf(list)
    }
    return readCopy({ targets, read }, this.#options.limits)
  }

  /** Lets go of the clipboard and hangs up. */
  async close(): Promise<void> {
    try {
      await this.#owner.release()
    } catch (error) {
      // Whoever hangs up loses the clipboard anyway.
      this.#options.logger.debug('Could not release the clipboard', { reason: String(error) })
    }
    await this.#connection.close()
  }

  #handle(event: SelectionEvent): void {
    this.#reader.handle(event)
    this.#owner.handle(event)
    if (event.kind !== 'ownerChanged') return
    this.#options.onOwnerChanged(this.#nameOwner(event.owner), event.time)
  }

  #nameOwner(window: number): ClipboardOwner {
    if (window === 0) return 'nobody'
    return window === this.#connection.window ? 'us' : 'another'
  }

  #namesOf(bytes: Uint8Array): readonly string[] {
    const list = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const names: string[] = []
    for (let at = 0; at + ATOM_BYTES <= list.length; at += ATOM_BYTES) {
      const name = this.#connection.nameOf(list.readUInt32LE(at))
      if (name !== undefined) names.push(name)
    }
    return names
  }
}
