/**
 * The clipboard during one connection to one X server.
 * @module
 */

import { KIB } from '../../core/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ClipboardOwner, CopiedContent, OfferedContent } from '../../ports/system-clipboard.ts'
import { internAtoms, type Atoms } from './atoms.ts'
import { OutgoingTransfers } from './outgoing-transfers.ts'
import { readCopy, type CopyLimits } from '../read-copy.ts'
import { SelectionOwner } from './selection-owner.ts'
import { SelectionReader, TRANSFER_PROPERTIES } from './selection-reader.ts'
import { PROPERTY_CHANGE, XConnection } from './x-connection.ts'
import type { SelectionEvent } from './x-events.ts'

/** How long others may take. */
export interface XTimings {
  /** The server for any answer, a program for the next piece of what was copied from it. */
  readonly answerMs: number
  /** A program that pastes, to take the next block. */
  readonly stallMs: number
}

/** Another program owns the selection. */
export interface OwnerChange {
  /** `nobody` when the clipboard was cleared, or its owner is gone. */
  readonly owner: ClipboardOwner
  /** Server time. */
  readonly time: number
}

/** How a session is opened. */
export interface XSessionOptions {
  readonly display: string
  readonly clock: Clock
  readonly logger: Logger
  readonly timings: XTimings
  readonly limits: CopyLimits
  /** Somebody took the clipboard; may be called before `open` has resolved. */
  readonly onOwnerChanged: (change: OwnerChange) => void
  /** The connection is lost, after it was open. */
  readonly onClosed: (reason: Error) => void
}

/**
 * Longest property that is written. The library cannot write more than 256 KiB at once, and old
 * servers take no more either.
 */
const MAX_BLOCK_BYTES: number = 240 * KIB

/** Bytes of a list of formats; far more than any program has. */
const MAX_TARGETS_BYTES: number = 16 * KIB

const ATOM_BYTES = 4

/** Formats to try with a program that has no list of its formats. */
const LEGACY_TARGETS: readonly string[] = ['UTF8_STRING', 'STRING']

/** One life of the connection to an X server, with everything that ends with it. */
export class XSession {
  readonly #connection: XConnection
  readonly #atoms: Atoms
  readonly #window: number
  readonly #options: XSessionOptions
  readonly #reader: SelectionReader
  readonly #transfers: OutgoingTransfers
  readonly #owner: SelectionOwner
  #timeWaiters: ((time: number) => void)[] = []
  #firstOwner = 0

  /** @throws {Error} When there is no server that can be used. */
  static async open(options: XSessionOptions): Promise<XSession> {
    const { display, clock, logger, timings } = options
    const onError = (error: Error): void => logger.debug('X error', { reason: error.message })
    const timeoutMs = timings.answerMs
    const connection = await XConnection.open({ display, clock, timeoutMs, onError })
    try {
      const names = Array.from({ length: TRANSFER_PROPERTIES }, (_, n) => `CLIPGATE_TRANSFER_${n}`)
      const [atoms, properties] = await Promise.all([
        internAtoms(connection),
        Promise.all(names.map((name) => connection.internAtom(name))),
      ])
      const session = new XSession(connection, atoms, properties, options)
      connection.watchSelection(session.#window, atoms.of('CLIPBOARD'))
      session.#firstOwner = await connection.getSelectionOwner(atoms.of('CLIPBOARD'))
      connection.onClosed((reason) => session.#onClosed(reason))
      return session
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  private constructor(
    connection: XConnection,
    atoms: Atoms,
    properties: readonly number[],
    options: XSessionOptions,
  ) {
    const { clock, logger, timings } = options
    const { answerMs, stallMs } = timings
    this.#connection = connection
    this.#atoms = atoms
    this.#options = options
    const window = connection.createWindow(PROPERTY_CHANGE)
    this.#window = window
    const blockBytes = Math.min(MAX_BLOCK_BYTES, connection.maxPropertyBytes)
    const incr = atoms.of('INCR')
    const shared = { connection, atoms, window, clock, logger }
    this.#reader = new SelectionReader({ ...shared, properties, answerMs })
    const transfers = new OutgoingTransfers({ ...shared, incr, blockBytes, stallMs })
    const serverTime = (): Promise<number> => this.serverTime()
    this.#transfers = transfers
    this.#owner = new SelectionOwner({ ...shared, transfers, blockBytes, serverTime })
    connection.onEvent((event) => this.#handle(event))
  }

  /** Who owned the clipboard when the watching began. */
  get firstOwner(): ClipboardOwner {
    return this.#nameOwner(this.#firstOwner)
  }

  /** Asks for the time of the server: that of a change that we make for the purpose. */
  serverTime(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#timeWaiters.push(resolve)
      const property = this.#atoms.of('CLIPGATE_TIME')
      const nothing = { type: this.#atoms.of('INTEGER'), format: 8, data: Buffer.alloc(0) } as const
      this.#connection
        .changeProperty({ window: this.#window, property, ...nothing, mode: 'append' })
        .catch(reject)
    })
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
  async read(time: number, signal: AbortSignal): Promise<CopiedContent | undefined> {
    const read = async (target: number, maxBytes: number): Promise<Uint8Array | undefined> => {
      const selection = this.#atoms.of('CLIPBOARD')
      return this.#reader.convert({ selection, target, time, maxBytes, signal })
    }
    const targets = async (): Promise<readonly string[]> => {
      const list = await read(this.#atoms.of('TARGETS'), MAX_TARGETS_BYTES)
      return list === undefined ? LEGACY_TARGETS : this.#namesOf(list)
    }
    const readNamed = async (target: string, maxBytes: number): Promise<Uint8Array | undefined> =>
      read(await this.#connection.internAtom(target), maxBytes)
    return readCopy({ targets, read: readNamed }, this.#options.limits)
  }

  /** Lets go of the clipboard and hangs up. */
  async close(): Promise<void> {
    try {
      await this.#transfers.close()
      await this.#owner.release()
    } catch (error) {
      // Whoever hangs up loses the clipboard anyway.
      this.#options.logger.debug('Could not release the clipboard', { reason: String(error) })
    }
    await this.#connection.close()
  }

  #onClosed(reason: Error): void {
    void this.#transfers.close()
    this.#options.onClosed(reason)
  }

  #handle(event: SelectionEvent): void {
    this.#reader.handle(event)
    this.#owner.handle(event)
    this.#transfers.handle(event)
    if (event.kind === 'ownerChanged') {
      const owner = this.#nameOwner(event.owner)
      this.#options.onOwnerChanged({ owner, time: event.time })
    }
    if (event.kind !== 'property' || event.isDeleted) return
    if (event.window === this.#window && event.property === this.#atoms.of('CLIPGATE_TIME')) {
      this.#timeWaiters.shift()?.(event.time)
    }
  }

  #nameOwner(window: number): ClipboardOwner {
    if (window === 0) return 'nobody'
    return window === this.#window ? 'us' : 'another'
  }

  #namesOf(bytes: Uint8Array): readonly string[] {
    const list = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const names: string[] = []
    for (let at = 0; at + ATOM_BYTES <= list.length; at += ATOM_BYTES) {
      const name = this.#atoms.nameOf(list.readUInt32LE(at))
      if (name !== undefined) names.push(name)
    }
    return names
  }
}
