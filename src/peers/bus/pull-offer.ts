/**
 * Gets an item that was announced on the bus: over HTTP, from one of the members that have it, with
 * the credential of the circle.
 * @module
 */

import { isIP } from 'node:net'
import { ClientError } from '../../client/client-error.ts'
import type { Download, DownloadOptions } from '../../client/download.ts'
import { comparePlaces, type Place } from '../../core/stamp.ts'
import type { CircleTime } from '../../ports/circle-time.ts'
import { isLoopbackAddress } from '../../fetch/check-connection.ts'
import { placeOf } from '../../hashing/place-of.ts'
import { openClient, type DaemonClient } from '../open-client.ts'
import { pullItem, type PullItemDeps } from '../pull-item.ts'
import type { CircleSecrets } from './circle-key.ts'
import type { SignalItem } from './signal.ts'

/** Sources that are remembered: one is needed, and the others are spare. */
const MAX_SOURCES = 4

/** An item that members of the circle have, and this one does not: what it is, and where it is. */
export class Offer {
  readonly item: SignalItem
  readonly #sources: string[] = []
  #tried = 0
  #turn = 0

  constructor(item: SignalItem) {
    this.item = item
  }

  /** Base URLs of members that have it. */
  get sources(): readonly string[] {
    return this.#sources
  }

  add(url: string): void {
    if (this.#sources.length < MAX_SOURCES && !this.#sources.includes(url)) this.#sources.push(url)
  }

  /** The next source; `undefined` once every source was given. */
  next(): string | undefined {
    const url = this.#sources[this.#tried]
    if (url !== undefined) this.#tried += 1
    return url
  }

  /** The sources in turn, again and again, beginning with the one that {@link next} gave last. */
  rotate(): string | undefined {
    this.#turn += 1
    return this.#sources[(this.#tried - 1 + this.#turn) % this.#sources.length]
  }
}

/** The ports and secrets of a pull. */
export interface PullOfferDeps extends Omit<PullItemDeps, 'client' | 'circleTime'> {
  /** Base URL of our own gateway. */
  readonly ownUrl: () => string
  readonly secrets: Pick<CircleSecrets, 'username' | 'password'>
  readonly circleTime: CircleTime
  /** Called with the place of the item that is about to become current. */
  readonly onPlace: (place: Place) => void
  /** A source broke off: others would be of use. */
  readonly onTrouble: () => void
}

const AT_LOOPBACK = 'a member has told a loopback address; set --public-url there'

/**
 * Gets the item of an offer from one source after the other.
 *
 * @throws The failure of the last source, when all have failed; the reason of the signal.
 */
export async function pullOffer(offer: Offer, deps: PullOfferDeps): Promise<void> {
  let failure: unknown = new Error('Nobody has the item any more')
  for (let url = offer.next(); url !== undefined; url = offer.next()) {
    try {
      return await pullFrom(url, offer, deps)
    } catch (error) {
      deps.signal.throwIfAborted()
      failure = error
    }
  }
  throw failure
}

async function pullFrom(url: string, offer: Offer, deps: PullOfferDeps): Promise<void> {
  const { secrets, signal, latest, circleTime, clock } = deps
  // There our own programs listen, and none of them gets the credential of the circle.
  const isAllowed = isLoopback(deps.ownUrl())
  if (!isAllowed && isLoopback(url)) throw atLoopback()
  // A name may lead there as well, and so may another source.
  const refuse = (address: string): Error | undefined =>
    !isAllowed && isLoopbackAddress(address) ? atLoopback() : undefined
  const open = (base: string): DaemonClient =>
    openClient({ ...secrets, url: base }, { refuse, circleTime, clock })
  let client = open(url)
  try {
    const document = await client.latest({ signal })
    const current = latest.current?.item
    const here = current && placeOf(current, current.contentHash, circleTime.believes)
    const there = document.stamp && placeOf(document, document.hash, circleTime.believes)
    if (there === undefined || comparePlaces(there, here) <= 0) {
      throw new Error('A member does not have the item any more')
    }
    deps.onPlace(there)

    /** Continues a broken download at another source: the same bytes have the same entity tag. */
    const download = async (
      what: Parameters<DaemonClient['download']>[0],
      options: DownloadOptions = {},
    ): Promise<Download> => {
      try {
        return await client.download(what, options)
      } catch (error) {
        signal.throwIfAborted()
        deps.onTrouble()
        const other = offer.rotate()
        if (other !== undefined && offer.sources.length > 1) {
          client.close()
          client = open(other)
        }
        throw error
      }
    }
    await pullItem(document, { ...deps, client: { download } })
  } finally {
    client.close()
  }
}

function atLoopback(): ClientError {
  return new ClientError('UNREACHABLE', { reason: AT_LOOPBACK })
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  const host = hostname.replace(/\.$/, '').replace(/^\[|\]$/g, '')
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  return isIP(host) !== 0 && isLoopbackAddress(host)
}
