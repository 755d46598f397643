/**
 * Tickets: browsers save large files only by themselves, and send no credentials then. So a page
 * may ask for a path that leads to the bytes of an item for ten minutes, and to each file of a
 * Group.
 * @module
 */

import { route, type Call, type Handler, type Route } from '../http/call.ts'
import { found, HttpError } from '../http/http-error.ts'
import { json } from '../http/reply.ts'
import { OwnTokens } from '../lib/own-tokens.ts'
import type { Principal } from '../ports/device-registry.ts'
import type { RecentItem } from '../ports/panel.ts'
import { blobReply, type Downloadable } from './file.ts'
import { memberOf, membersOf } from './group-members.ts'
import type { GatewayPorts } from './gateway-ports.ts'

const LIFETIME_MS = 10 * 60_000

/** Whose it is, until when, and which recent item it is for; the binary item without that. */
const TICKET = /^([\w-]{1,64})\.([0-9a-z]{1,10})(?:-r(\d{1,9}))?\.([\w-]{43})$/

/** Where tickets are, and for whom. */
export interface TicketsOptions<Holder extends Principal> {
  readonly at: `/${string}`
  /** Whoever has this id and may still come in. */
  readonly find: (id: string) => Holder | undefined
  /** The recent items that somebody may read; without it, nobody reads any. */
  readonly recentOf?: (holder: Holder) => readonly RecentItem[]
}

type TicketPorts = Pick<GatewayPorts, 'latest' | 'clock' | 'transfers'>

/**
 * Tickets, of which nothing is kept: each proves by itself which item it was given for, and to
 * whom. It ends with that item, and with the credentials of its holder.
 */
export class Tickets<Holder extends Principal> {
  #tokens = new OwnTokens()
  readonly #ports: TicketPorts
  readonly #options: TicketsOptions<Holder>

  constructor(ports: TicketPorts, options: TicketsOptions<Holder>) {
    this.#ports = ports
    this.#options = options
  }

  /** The routes: who has credentials gets a ticket, and whoever has that the bytes. */
  get routes(): readonly Route<Holder>[] {
    const { latest, transfers } = this.#ports
    const { at } = this.#options
    const give: Handler<Holder> = async (call) => {
      const { principal, query } = call
      const recent = query.get('recent') ?? undefined
      // One that a text has replaced may be from before its asker was paired.
      const isGone = recent === undefined && latest.current?.item.type === 'Text'
      const wanted = found(isGone ? undefined : this.#find(principal, recent))
      const path = `${at}/${this.#make(principal, wanted, recent)}`
      const { mediaType, contentId } = wanted.item
      const members = await membersOf(wanted)
      const length = members.reduce((sum, { name }) => sum + name.length, 0)
      // In the list of members and in its JSON, until that is read.
      call.holdBytes(2 * length, 2 * length)
      return json({ path, mediaType, contentId, ...(members.length > 0 && { members }) })
    }
    const take: Handler<Holder, { readonly ticket: string }> = async (call) => {
      const { principal, params, query } = call
      const all = found(this.#find(principal, TICKET.exec(params.ticket)?.[3]))
      const member = query.get('member')
      const wanted = member === null ? all : found(await memberOf(all, member))
      return blobReply(wanted, { deviceId: principal.id, transfers })
    }
    return [route('POST', at, give), route('GET', `${at}/{ticket}`, take)]
  }

  /**
   * Whose ticket a request comes with.
   *
   * @returns `undefined` when it asks for anything else.
   * @throws {HttpError} `NOT_FOUND` when the ticket is no good any more.
   */
  holderOf({ method, path }: Pick<Call, 'method' | 'path'>): Holder | undefined {
    const { at, find } = this.#options
    if (!path.startsWith(`${at}/`) || !['GET', 'HEAD'].includes(method)) return undefined
    const ticket = path.slice(at.length + 1)
    const [, id = '', expiry = '', recent] = TICKET.exec(ticket) ?? []
    const holder = found(find(id))
    const wanted = found(this.#find(holder, recent))
    const isGood = this.#tokens.isOwn(ticket, boundTo(holder, wanted))
    const isLate = Number.parseInt(expiry, 36) <= this.#ports.clock.monotonic()
    if (!isGood || isLate) throw new HttpError('NOT_FOUND')
    return holder
  }

  /** Ends all tickets. */
  endAll(): void {
    this.#tokens = new OwnTokens()
  }

  #find(holder: Holder, recent: string | undefined): Downloadable | undefined {
    if (recent === undefined) return this.#ports.latest.binary
    const item = this.#options.recentOf?.(holder).find(({ id }) => id === recent)
    return item === undefined || item.type === 'Text' ? undefined : { item, blob: item.blob }
  }

  #make(holder: Holder, wanted: Downloadable, recent: string | undefined): string {
    const expiresAt = this.#ports.clock.monotonic() + LIFETIME_MS
    const shown = `${holder.id}.${Math.floor(expiresAt).toString(36)}`
    const of = recent === undefined ? '' : `-r${recent}`
    return this.#tokens.make(shown + of, boundTo(holder, wanted))
  }
}

/** A ticket ends with the password of its holder, and with the item. */
function boundTo({ passwordHash }: Principal, { item }: Downloadable): readonly unknown[] {
  return [passwordHash, item.contentHash, item.dataName, item.activatedAt]
}
