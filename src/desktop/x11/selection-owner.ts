/** Owns the clipboard: answers other programs that paste (ICCCM, 2.2). @module */

import { readWhole } from '../../lib/read-bytes.ts'
import type { Logger } from '../../ports/logger.ts'
import type { OfferedContent } from '../../ports/system-clipboard.ts'
import { imageFileFormats, offeredFormats, type OfferedBytes } from '../offered-formats.ts'
import { pngFormats } from '../photo-as-png.ts'
import { COPY_FORMATS } from '../read-copy.ts'
import { OutgoingTransfers, type OwnerDeps } from './outgoing-transfers.ts'
import type { SelectionEvent, SelectionRequest, XConnection } from './x-connection.ts'

interface OfferedTarget {
  readonly type: number
  readonly bytes: () => Promise<OfferedBytes>
  /** Pastes of it that are under way: those of a file may wait for a folder that hangs. */
  pastes: number
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

/** More pastes of a target at once than programs make; each may hold a block of it. */
const MAX_PASTES = 64

/** Other types of images that are given to the server, which keeps the name of each for ever. */
const MAX_OTHER_TYPES = 64

/** Owns the selection, and answers programs that paste. */
export class SelectionOwner {
  readonly #connection: XConnection
  readonly #logger: Logger
  readonly #transfers: OutgoingTransfers
  readonly #otherTypes = new Set<string>()
  #offer: Offer | undefined

  constructor(deps: OwnerDeps) {
    this.#connection = deps.connection
    this.#logger = deps.logger
    this.#transfers = new OutgoingTransfers(deps)
  }

  /**
   * Takes the clipboard. Resolves when the server says that it is ours.
   *
   * @throws {Error} When it is not, because somebody copied meanwhile.
   */
  async offer(content: OfferedContent): Promise<void> {
    const connection = this.#connection
    const targets = new Map<number, OfferedTarget>()
    const own = this.#mayName(content) ? offeredFormats(content) : []
    const formats = [...own, ...pngFormats(content), ...imageFileFormats(content)]
    for (const { target, type, bytes } of formats) {
      const atom = await connection.internAtom(target)
      targets.set(atom, { type: await connection.internAtom(type), bytes, pastes: 0 })
    }
    // Not "now", which lets an older request overtake a newer one (ICCCM, 2.1).
    const time = await connection.serverTime()
    const offer = { time, targets }
    this.#offer = offer
    connection.setSelectionOwner(connection.window, connection.atom('CLIPBOARD'), time)
    if ((await connection.clipboardOwner()) === connection.window) return
    if (this.#offer === offer) this.#offer = undefined
    throw new Error('Another program took the clipboard')
  }

  /** Whether the server may learn the type of an image, which its sender has chosen. */
  #mayName(content: OfferedContent): boolean {
    if (content.kind !== 'image' || COPY_FORMATS.includes(content.mediaType)) return true
    if (this.#otherTypes.size < MAX_OTHER_TYPES) this.#otherTypes.add(content.mediaType)
    return this.#otherTypes.has(content.mediaType)
  }

  /** Ends every paste, and gives the clipboard back if it is ours. */
  async release(): Promise<void> {
    await this.endPastes()
    const offer = this.#offer
    this.#offer = undefined
    const connection = this.#connection
    if (offer === undefined || (await connection.clipboardOwner()) !== connection.window) return
    connection.setSelectionOwner(0, connection.atom('CLIPBOARD'), offer.time)
    // The answer means that it was done.
    await connection.clipboardOwner()
  }

  endPastes(): Promise<void> {
    return this.#transfers.close()
  }

  handle(event: SelectionEvent): void {
    this.#transfers.handle(event)
    // The event of an earlier loss may come after we took the clipboard again, in the same tick.
    const since = this.#offer?.time
    if (event.kind === 'cleared' && since !== undefined && isEarlier(since, event.time)) {
      this.#offer = undefined
    }
    if (event.kind === 'requested') {
      this.#answer(event).catch((error: unknown) => {
        this.#logger.debug('Could not answer a paste', { reason: String(error) })
      })
    }
  }

  async #answer(request: SelectionRequest): Promise<void> {
    const connection = this.#connection
    const { requestor, selection, target, time } = request
    // Programs from before ICCCM name no property.
    const into = request.property === 0 ? target : request.property
    const offer = this.#offerAt(selection, time)
    let isDone = false
    if (offer !== undefined) {
      const isMultiple = target === connection.atom('MULTIPLE')
      isDone = isMultiple
        ? request.property !== 0 && (await this.#convertAll(offer, requestor, into))
        : await this.#convert(offer, target, requestor, into)
    }
    const property = isDone ? into : 0
    await connection.sendSelectionNotify({ requestor, selection, target, time, property })
  }

  /** Finds what was ours to offer at `time`; 0 stands for now. */
  #offerAt(selection: number, time: number): Offer | undefined {
    const offer = this.#offer
    if (offer === undefined || selection !== this.#connection.atom('CLIPBOARD')) return undefined
    return time !== 0 && isEarlier(time, offer.time) ? undefined : offer
  }

  /** @returns Whether it worked; the requestor is told no more than that. */
  async #convert(offer: Offer, target: number, window: number, property: number): Promise<boolean> {
    try {
      return await this.#write(offer, target, window, property)
    } catch (error) {
      this.#logger.debug('Could not convert for a paste', { reason: String(error) })
      return false
    }
  }

  async #write(offer: Offer, target: number, window: number, property: number): Promise<boolean> {
    const connection = this.#connection
    if (target === connection.atom('TARGETS')) {
      const own = [target, connection.atom('TIMESTAMP'), connection.atom('MULTIPLE')]
      const data = [...own, ...offer.targets.keys()]
      await connection.changeProperty({ window, property, type: connection.atom('ATOM'), data })
      return true
    }
    if (target === connection.atom('TIMESTAMP')) {
      const type = connection.atom('INTEGER')
      await connection.changeProperty({ window, property, type, data: [offer.time] })
      return true
    }
    const offered = offer.targets.get(target)
    if (offered === undefined || offered.pastes >= MAX_PASTES) return false
    offered.pastes += 1
    try {
      await this.#paste(offered, window, property)
    } finally {
      offered.pastes -= 1
    }
    return true
  }

  async #paste(offered: OfferedTarget, window: number, property: number): Promise<void> {
    const connection = this.#connection
    const { type } = offered
    const bytes = await offered.bytes()
    if (bytes.size > connection.blockBytes) {
      await this.#transfers.start({ requestor: window, property, type }, bytes)
    } else {
      const data = Buffer.from(await readWhole(bytes))
      if (data.length < bytes.size) throw new Error('The bytes are shorter than they were')
      await connection.changeProperty({ window, property, type, data })
    }
  }

  /** Several conversions at once: pairs of target and property; what fails becomes `None`. */
  async #convertAll(offer: Offer, window: number, property: number): Promise<boolean> {
    const connection = this.#connection
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
    const type = connection.atom('ATOM_PAIR')
    await connection.changeProperty({ window, property, type, data: pairs })
    return true
  }
}

/** Server times wrap: half of them are earlier than any one. */
function isEarlier(time: number, than: number): boolean {
  return ((time - than) | 0) < 0
}
