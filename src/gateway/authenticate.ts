/**
 * HTTP Basic authentication of a request.
 *
 * Every failure looks the same. Credentials that are absent, malformed, doubled or longer than any
 * real ones cost nothing; a well-formed pair costs one verification, whether the user exists or
 * not. A connection remembers the header that was verified on it last, for as long as no
 * credential of any device changes; see docs/decisions/001-remembered-verification.md.
 *
 * Addresses that keep failing are told so ever later, and have to send each pair twice in the end.
 * That costs a client with the right one no more than coming again: nobody is locked out, not even
 * behind the same address. A proxy that does not tell for whom it asks is one such address: names
 * that a client behind it makes up do not make it many.
 * @module
 */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../core/domain-error.ts'
import { MAX_PASSWORD_LENGTH } from '../core/limits.ts'
import type { Call } from '../http/call.ts'
import { HttpError } from '../http/http-error.ts'
import { countFields, findField } from '../http/request-head.ts'
import { networkOf } from '../lib/network-of.ts'
import type { Device } from '../ports/device-registry.ts'
import { dialectOfPath } from './dialect.ts'
import { FailingAddresses } from './failing-addresses.ts'
import type { GatewayPorts } from './gateway-ports.ts'

const CHALLENGE = ['WWW-Authenticate', 'Basic realm="clipgate", charset="UTF-8"']

/** User names have at most 32 characters; the rest is a password in UTF-8, in base64. */
const MAX_HEADER_LENGTH = 6 + Math.ceil(((33 + 4 * MAX_PASSWORD_LENGTH) * 4) / 3) + 4

const BASIC = /^basic +((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?) *$/i

/** The user name and the password of a request. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

/** The last login on a connection. */
interface Login {
  readonly header: string
  /** That of the devices. */
  readonly revision: number
  readonly device: Device
}

/** The part of a call that is there before anybody knows whose it is. */
export type UnknownCall = Pick<Call, 'request' | 'path' | 'address' | 'connection'>

/**
 * Makes the function that finds the device of a request and notes that it was there.
 *
 * The function throws {@link HttpError} `UNAUTHORIZED` and `TOO_MANY_REQUESTS`, and what the
 * verifier throws.
 */
export function createAuthenticate(
  ports: Pick<GatewayPorts, 'devices' | 'verifier' | 'clock' | 'logger' | 'onLoginRefused'>,
): (call: UnknownCall) => Device | Promise<Device> {
  const { devices, verifier, clock, logger, onLoginRefused } = ports
  const failing = new FailingAddresses(clock)
  /** Not on the connection: several gateways may be shown one. */
  const logins = new WeakMap<UnknownCall['connection'], Login>()

  return (call) => {
    const header = singleAuthorization(call.request)
    if (header === undefined) throw unauthorized()
    const { revision } = devices
    const login = logins.get(call.connection)
    if (login?.header === header && login.revision === revision) return seen(login.device, call)
    const credentials = parseBasic(header)
    if (credentials === undefined) throw unauthorized()
    const recalled = verifier.recall(credentials.username, credentials.password)
    if (recalled === undefined) return verify(call, header, credentials)
    if (recalled === 'wrong') return refuse(call, credentials)
    return letIn(call, { header, revision, device: recalled })
  }

  async function verify(
    call: UnknownCall,
    header: string,
    credentials: Credentials,
  ): Promise<Device> {
    const { username, password } = credentials
    const network = networkOf(call.address ?? '')
    // Read before the verification: a credential that changes meanwhile makes the memory useless.
    const { revision } = devices
    const isDeferred = !failing.takeRun(network)
    const device = await verifier
      .verify(username, password, { network, isDeferred })
      .catch((error: unknown) => turnAway(error, network, isDeferred))
    if (device === undefined) return refuse(call, credentials)
    if (!isDeferred) failing.giveRunBack(network)
    return letIn(call, { header, revision, device })
  }

  async function turnAway(error: unknown, network: string, isDeferred: boolean): Promise<never> {
    if (!isDeferred) failing.giveRunBack(network)
    if (!(error instanceof DomainError) || error.code !== 'VERIFIER_BUSY') throw error
    await failing.holdBack(network)
    throw isDeferred ? new HttpError('TOO_MANY_REQUESTS') : error
  }

  async function refuse(call: UnknownCall, { username }: Credentials): Promise<never> {
    const { address } = call
    const device = onLoginRefused?.(username, address)
    logger.debug('A login was refused', { device, address })
    const isHeld = await failing.holdBack(networkOf(address ?? ''))
    throw isHeld ? unauthorized() : new HttpError('TOO_MANY_REQUESTS')
  }

  /** Once on each connection, and whenever what it says has changed. */
  function letIn(call: UnknownCall, login: Login): Device {
    const { device } = login
    logins.set(call.connection, login)
    logger.debug('A device logged in', { device: device.id, address: call.address })
    return seen(device, call)
  }

  function seen(device: Device, { request, path, address }: UnknownCall): Device {
    devices.noteSighting(device.id, {
      at: clock.now(),
      address,
      client: findField(request.rawHeaders, 'user-agent'),
      dialect: dialectOfPath(path),
    })
    return device
  }
}

/**
 * Parses an `Authorization` header: RFC 7617, with the charset UTF-8.
 *
 * @returns `undefined` when it is not one well-formed Basic credential.
 */
export function parseBasic(header: string): Credentials | undefined {
  if (header.length > MAX_HEADER_LENGTH) return undefined
  const encoded = BASIC.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (!isUtf8(bytes)) return undefined
  const pair = bytes.toString()
  const colon = pair.indexOf(':')
  if (colon === -1) return undefined
  const password = pair.slice(colon + 1)
  // Counted as people count characters; an emoji is one, of two units.
  const isLong = password.length > MAX_PASSWORD_LENGTH && [...password].length > MAX_PASSWORD_LENGTH
  if (isLong) return undefined
  return { username: pair.slice(0, colon), password }
}

/** Node keeps the first of several; a request that has two means something else than we see. */
function singleAuthorization({ rawHeaders }: IncomingMessage): string | undefined {
  if (countFields(rawHeaders, 'authorization') !== 1) return undefined
  return findField(rawHeaders, 'authorization')
}

/** The answer to every failure. */
export function unauthorized(): HttpError {
  return new HttpError('UNAUTHORIZED', { headers: CHALLENGE })
}
