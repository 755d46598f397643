/**
 * Sends what is too long for one property in increments (ICCCM, 2.7.2): a block is written, and
 * the next one when the requestor has deleted it. An empty block is the end.
 *
 * The protocol has no way to say that something went wrong. A transfer that cannot go on just
 * stops, without the empty block: the requestor must not take half a picture for a whole one.
 * @module
 */

import type { Clock } from '../../lib/clock.ts'
import type { OpenBlob } from '../../ports/blob.ts'
import type { Logger } from '../../ports/logger.ts'
import type { OfferedBytes } from '../offered-formats.ts'
import {
  PROPERTY_CHANGE,
  type SelectionEvent,
  STRUCTURE_NOTIFY,
  type XConnection,
} from './x-connection.ts'

/** The surroundings that the parts of the clipboard's owner share. */
export interface OwnerDeps {
  readonly connection: XConnection
  readonly clock: Clock
  readonly logger: Logger
}

/** Where the bytes go. */
interface Destination {
  readonly requestor: number
  readonly property: number
  readonly type: number
}

interface Transfer extends Destination {
  readonly source: OpenBlob
  readonly size: number
  readonly block: Buffer
  position: number
  /** Waits for the requestor, which may answer only then. */
  isWaiting: boolean
  isEnding: boolean
  cancelStall: () => void
}

/** The announced size is a lower bound, in 32 bits. */
const MAX_CARD32 = 0xffff_ffff

/** A requestor that leaves a block alone for longer is given up. */
const STALL_MS = 10_000

/** More pastes at once than programs that a person uses; each holds a file open. */
const MAX_TRANSFERS = 64

/** The transfers to programs that paste long content. */
export class OutgoingTransfers {
  readonly #deps: OwnerDeps
  readonly #transfers = new Map<string, Transfer>()
  /** How many transfers wait for their bytes to be opened. */
  #opening = 0

  constructor(deps: OwnerDeps) {
    this.#deps = deps
  }

  /**
   * Announces a transfer. It goes on by itself when the requestor takes the announcement away.
   *
   * @throws {Error} When the requestor is gone, or too many transfers are under way.
   */
  async start(destination: Destination, bytes: OfferedBytes): Promise<void> {
    const { connection } = this.#deps
    const { requestor, property } = destination
    const key = keyOf(requestor, property)
    await this.#finish(key)
    const source = await this.#open(bytes)
    // Another request for the same may have come meanwhile: its transfer is replaced at once.
    void this.#finish(key)
    const transfer: Transfer = {
      ...destination,
      source,
      size: bytes.size,
      block: Buffer.alloc(connection.blockBytes),
      position: 0,
      isWaiting: true,
      isEnding: false,
      cancelStall: () => undefined,
    }
    this.#transfers.set(key, transfer)
    this.#watchStall(key, transfer)
    const incr = connection.atom('INCR')
    const least = Math.min(bytes.size, MAX_CARD32)
    try {
      await Promise.all([
        connection.selectInput(requestor, PROPERTY_CHANGE | STRUCTURE_NOTIFY),
        connection.changeProperty({ window: requestor, property, type: incr, data: [least] }),
      ])
    } catch (error) {
      await this.#finish(key)
      throw error
    }
  }

  handle(event: SelectionEvent): void {
    if (event.kind === 'destroyed') {
      for (const [key, { requestor }] of this.#transfers) {
        if (requestor === event.window) void this.#finish(key)
      }
    }
    if (event.kind !== 'property' || !event.isDeleted) return
    const key = keyOf(event.window, event.property)
    const transfer = this.#transfers.get(key)
    if (transfer === undefined || !transfer.isWaiting) return
    transfer.isWaiting = false
    this.#advance(key, transfer).catch((error: unknown) => {
      this.#deps.logger.debug('A paste was broken off', { reason: String(error) })
      return this.#finish(key)
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transfers.keys()].map((key) => this.#finish(key)))
  }

  async #open(bytes: OfferedBytes): Promise<OpenBlob> {
    if (this.#transfers.size + this.#opening >= MAX_TRANSFERS) {
      throw new Error('Too many programs paste at once')
    }
    this.#opening += 1
    try {
      return await bytes.open()
    } finally {
      this.#opening -= 1
    }
  }

  async #advance(key: string, transfer: Transfer): Promise<void> {
    if (transfer.isEnding) return this.#finish(key)
    const { requestor, property, type, block, position, size } = transfer
    const wanted = block.subarray(0, Math.min(block.length, size - position))
    const count = wanted.length === 0 ? 0 : await transfer.source.read(wanted, position)
    if (count < wanted.length) throw new Error('The bytes are shorter than they were')
    if (this.#transfers.get(key) !== transfer) return
    transfer.position += count
    transfer.isEnding = count === 0
    transfer.isWaiting = true
    this.#watchStall(key, transfer)
    await this.#deps.connection.changeProperty({ window: requestor, property, type, data: wanted })
  }

  #watchStall(key: string, transfer: Transfer): void {
    transfer.cancelStall()
    transfer.cancelStall = this.#deps.clock.after(STALL_MS, () => {
      this.#deps.logger.debug('A paste was given up: the other program has stopped')
      void this.#finish(key)
    })
  }

  /** Never rejects: there is nobody left who could act on it. */
  async #finish(key: string): Promise<void> {
    const transfer = this.#transfers.get(key)
    if (transfer === undefined) return
    this.#transfers.delete(key)
    transfer.cancelStall()
    const { requestor, source } = transfer
    try {
      await source.close()
      const isLast = ![...this.#transfers.values()].some((other) => other.requestor === requestor)
      if (isLast) await this.#deps.connection.selectInput(requestor, 0)
    } catch (error) {
      // The window of a requestor that died is gone, and so may be the server.
      this.#deps.logger.debug('Could not tidy up after a paste', { reason: String(error) })
    }
  }
}

function keyOf(requestor: number, property: number): string {
  return `${requestor}:${property}`
}
