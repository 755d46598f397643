/**
 * `/phone`: a page that makes a phone with nothing installed a client. It is for everybody, and
 * holds nothing of the clipboard; what it does it does by the protocol, as any client.
 *
 * Browsers save large files only by themselves, and send no credentials then. So a device may ask
 * for a ticket: a path that leads to the bytes of the current item for ten minutes.
 * @module
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { route, type Call, type Handler, type Route } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { pageRoutes } from '../http/page-files.ts'
import { json } from '../http/reply.ts'
import type { Device } from '../ports/device-registry.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import { blobReply } from './file.ts'
import type { GatewayOptions, GatewayPorts } from './gateway-ports.ts'

const TICKETS = '/phone/tickets'

const LIFETIME_MS = 10 * 60_000

const TICKET = /^([\w-]{1,64})\.([0-9a-z]{1,10})\.([\w-]{43})$/

/** Directives for what works where browsers trust the address: a manifest, and a worker. */
const POLICY = ["manifest-src 'self'", "worker-src 'self'"]

/** The files of the page, for anybody. */
export function phonePageRoutes({
  isDraining,
}: Pick<GatewayOptions, 'isDraining'> = {}): readonly Route<undefined>[] {
  return pageRoutes({
    name: 'phone',
    files: ['phone.js', 'share.js', 'phone.css', 'icon.svg', 'app.webmanifest'],
    at: '/phone',
    below: '/phone/',
    policy: POLICY,
    check: () => {
      if (isDraining?.() === true) throw new HttpError('DRAINING')
    },
  })
}

/** Says to anybody that there is no page here: else browsers ask for a password. */
export const NO_PHONE_PAGE: Route<undefined> = route('GET', '/phone', () => {
  throw new HttpError('NOT_FOUND')
})

type TicketPorts = Pick<GatewayPorts, 'devices' | 'latest' | 'clock' | 'transfers'>

/**
 * Tickets, of which nothing is kept: each proves by itself which item it was given for, and to
 * whom. It ends with that item, and with the credentials of the device.
 */
export class PhoneTickets {
  readonly #key = randomBytes(32)
  readonly #ports: TicketPorts

  constructor(ports: TicketPorts) {
    this.#ports = ports
  }

  /** The routes for devices. */
  get routes(): readonly Route<Device>[] {
    const { latest, transfers } = this.#ports
    const give: Handler<Device> = ({ principal }) => {
      const stored = latest.binary
      if (stored === undefined) throw new HttpError('NOT_FOUND')
      const path = `${TICKETS}/${this.#make(principal, stored)}`
      return json({ path, mediaType: stored.item.mediaType })
    }
    const take: Handler<Device> = ({ principal }) => {
      const stored = latest.binary
      if (stored === undefined) throw new HttpError('NOT_FOUND')
      return blobReply(stored, { deviceId: principal.id, transfers })
    }
    return [route('POST', TICKETS, give), route('GET', `${TICKETS}/{ticket}`, take)]
  }

  /**
   * The device whose ticket a request comes with.
   *
   * @returns `undefined` when it asks for anything else.
   * @throws {HttpError} `NOT_FOUND` when the ticket is no good any more.
   */
  deviceOf({ method, path }: Pick<Call, 'method' | 'path'>): Device | undefined {
    if (!path.startsWith(`${TICKETS}/`) || !['GET', 'HEAD'].includes(method)) return undefined
    const [, deviceId = '', expiry = ''] = TICKET.exec(path.slice(TICKETS.length + 1)) ?? []
    const device = this.#ports.devices.find(deviceId)
    const stored = this.#ports.latest.binary
    if (device === undefined || stored === undefined) throw new HttpError('NOT_FOUND')
    const expected = Buffer.from(`${TICKETS}/${this.#sign(device, stored, expiry)}`)
    const given = Buffer.from(path)
    const isGood = given.length === expected.length && timingSafeEqual(given, expected)
    const isLate = Number.parseInt(expiry, 36) <= this.#ports.clock.monotonic()
    if (!isGood || isLate || device.passwordHash === undefined) throw new HttpError('NOT_FOUND')
    return device
  }

  #make(device: Device, stored: StoredItem): string {
    const expiresAt = this.#ports.clock.monotonic() + LIFETIME_MS
    return this.#sign(device, stored, Math.floor(expiresAt).toString(36))
  }

  #sign({ id, passwordHash }: Device, { item }: StoredItem, expiry: string): string {
    const { contentHash, dataName, activatedAt } = item
    const what = JSON.stringify([id, expiry, passwordHash, contentHash, dataName, activatedAt])
    return `${id}.${expiry}.${createHmac('sha256', this.#key).update(what).digest('base64url')}`
  }
}
