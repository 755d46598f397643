/**
 * Owns the clipboard: answers other programs that paste (ICCCM, 2.2).
 * @module
 */

import { readWhole } from '../../lib/read-bytes.ts'
import type { Logger } from '../../ports/logger.ts'
import type { OfferedContent } from '../../ports/system-clipboard.ts'
import type { Atoms } from './atoms.ts'
import { offeredFormats, type OfferedBytes } from '../offered-formats.ts'
import type { OutgoingTransfers } from './outgoing-transfers.ts'
import type { XConnection } from './x-connection.ts'
import type { SelectionEvent, SelectionRequest } from './x-events.ts'

/** The connection, and the helpers of a selection owner. */
export interface SelectionOwnerDeps {
  readonly connection: XConnection
  readonly atoms: Atoms
  readonly window: number
  readonly transfers: OutgoingTransfers
  /** Longer answers are sent in increments. */
  readonly blockBytes: number
  readonly logger: Logger
  /** Asks for the time of the server. */
  readonly serverTime: () => Promise<number>
}

interface OfferedTarget {
  readonly type: number
  readonly bytes: OfferedBytes
}

interface Offer {
  /** Server time since which the clipboard is ours. */
  readonly time: number
  readonly targets: ReadonlyMap<number, OfferedTarget>
}

/** Two atoms. */
const PAIR_BYTES = 8

/** Longest list of a MULTIPLE request: several times as long as all that is offered. */
const MAX_PAIRS_BYTES: number = 64 * PAIR_BYTES

/** Owns the selection, and answers programs that paste. */
export class SelectionOwner {
  readonly #deps: SelectionOwnerDeps
  #offer: Offer | undefined

  constructor(deps: SelectionOwnerDeps) {
    this.#deps = deps
  }

  /**
   * Takes the clipboard. Resolves when the server says that it is ours.
   *
   * @throws {Error} When it is not, because somebody copied meanwhile.
   */
  async offer(content: OfferedContent): Promise<void> {
    const { connection, atoms, window, serverTime } = this.#deps
    const targets = new Map<number, OfferedTarget>()
    for (const { target, type, bytes } of offeredFormats(content)) {
      const atom = await connection.internAtom(target)
      targets.set(atom, { type: await connection.internAtom(type), bytes })
    }
    // Not "now", which lets an older request overtake a newer one (ICCCM, 2.1).
    const time = await serverTime()
    const offer = { time, targets }
    this.#offer = offer
    connection.setSelectionOwner(window, atoms.of('CLIPBOARD'), time)
    if ((await connection.getSelectionOwner(atoms.of('CLIPBOARD'))) === window) return
    if (this.#offer === offer) this.#offer = undefined
    throw new Error('Another program took the clipboard')
  }

  /** Gives the clipboard back, if it is ours. */
  async release(): Promise<void> {
    const offer = this.#offer
    this.#offer = undefined
    const { connection, atoms, window } = this.#deps
    const clipboard = atoms.of('CLIPBOARD')
    if (offer === undefined || (await connection.getSelectionOwner(clipboard)) !== window) return
    connection.setSelectionOwner(0, clipboard, offer.time)
    // The answer means that it was done.
    await connection.getSelectionOwner(clipboard)
  }

  handle(event: SelectionEvent): void {
    if (event.kind === 'cleared' && this.#isLostAt(event.time)) this.#offer = undefined
    if (event.kind === 'requested') {
      this.#answer(event).catch((error: unknown) => {
        this.#deps.logger.debug('Could not answer a paste', { reason: String(error) })
      })
    }
  }

  /** The event of an earlier loss may come after we took the clipboard again, in the same tick. */
  #isLostAt(time: number): boolean {
    return this.#offer !== undefined && isEarlier(this.#offer.time, time)
  }

  async #answer(request: SelectionRequest): Promise<void> {
    const { connection, atoms } = this.#deps
    const { requestor, selection, target, time } = request
    // Programs from before ICCCM name no property.
    const into = request.property === 0 ? target : request.property
    const offer = this.#offerAt(selection, time)
    let isDone = false
    if (offer !== undefined) {
      const isMultiple = target === atoms.of('MULTIPLE')
      isDone = isMultiple
        ? request.property !== 0 && (await this.#convertAll(offer, requestor, into))
        : await this.#convert(offer, target, requestor, into)
    }
    const property = isDone ? into : 0
    await connection.sendSelectionNotify({ requestor, selection, target, time, property })
  }

  #offerAt(selection: number, time: number): Offer | undefined {
    const offer = this.#offer
    if (offer === undefined || selection !== this.#deps.atoms.of('CLIPBOARD')) return undefined
    return time !== 0 && isEarlier(time, offer.time) ? undefined : offer
  }

  /** @returns Whether it worked; the requestor is told no more than that. */
  async #convert(offer: Offer, target: number, window: number, property: number): Promise<boolean> {
    try {
      return await this.#write(offer, target, window, property)
    } catch (error) {
      this.#deps.logger.debug('Could not convert for a paste', { reason: String(error) })
      return false
    }
  }

  async #write(offer: Offer, target: number, window: number, property: number): Promise<boolean> {
    const { connection, atoms, transfers, blockBytes } = this.#deps
    if (target === atoms.of('TARGETS')) {
      const own = [atoms.of('TARGETS'), atoms.of('TIMESTAMP'), atoms.of('MULTIPLE')]
      const data = [...own, ...offer.targets.keys()]
      const type = atoms.of('ATOM')
      await connection.changeProperty({ window, property, type, format: 32, data })
      return true
    }
    if (target === atoms.of('TIMESTAMP')) {
      const type = atoms.of('INTEGER')
      await connection.changeProperty({ window, property, type, format: 32, data: [offer.time] })
      return true
    }
    const offered = offer.targets.get(target)
    if (offered === undefined) return false
    const { type, bytes } = offered
    if (bytes.size > blockBytes) {
      await transfers.start({ requestor: window, property, type }, bytes)
    } else {
      const data = Buffer.from(await readWhole(bytes))
      if (data.length < bytes.size) throw new Error('The bytes are shorter than they were')
      await connection.changeProperty({ window, property, type, format: 8, data })
    }
    return true
  }

  /** Several conversions at once: pairs of target and property; what fails becomes `None`. */
  async #convertAll(offer: Offer, window: number, property: number): Promise<boolean> {
    const { connection, atoms } = this.#deps
    const part = { offset: 0, length: MAX_PAIRS_BYTES, isDeleting: false }
    const { data, bytesAfter } = await connection.getProperty(window, property, part)
    if (data.length === 0 || data.length % PAIR_BYTES !== 0 || bytesAfter > 0) return false
    const pairs: number[] = []
    for (let at = 0; at < data.length; at += PAIR_BYTES) {
      const target = data.readUInt32LE(at)
      const into = data.readUInt32LE(at + PAIR_BYTES / 2)
      const isDone = into !== 0 && (await this.#convert(offer, target, window, into))
      pairs.push(target, isDone ? into : 0)
    }
    const type = atoms.of('ATOM_PAIR')
    await connection.changeProperty({ window, property, type, format: 32, data: pairs })
    return true
  }
}

/** Server times wrap: half of them are earlier than any one. */
function isEarlier(time: number, than: number): boolean {
  return ((time - than) | 0) < 0
}
