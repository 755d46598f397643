/**
 * Wire format of the message hub: the records of SignalR's JSON protocol, each ended by one byte.
 * @module
 */

import type { Item } from '../../core/item.ts'
import { parseJson } from '../../lib/utf8.ts'
import { documentOf, wireHash } from './clipboard-document.ts'
import { encodeRecord } from './history.ts'

const END = '\u001e'

const INVOCATION = 1
const COMPLETION = 3
const PING = 6
const CLOSE = 7

/** A record of a client, as far as the hub acts on it. */
export type HubRecord =
  | { readonly kind: 'invocation'; readonly id: string }
  | { readonly kind: 'close' }
  | { readonly kind: 'other' }

/** Keeps the other side from taking a quiet connection for a dead one. */
export const HUB_PING: string = encode({ type: PING })

/** The answer to a handshake. */
export const HUB_WELCOME: string = encode({})

/** The answer to a handshake that asks for something else than the JSON protocol. */
export const HUB_REFUSAL: string = encode({
  error: 'Only version 1 of the json protocol is spoken.',
})

/** Ends a connection that the client may open again. */
export const HUB_FAREWELL: string = encode({
  type: CLOSE,
  error: 'The connection was ended by the server.',
  allowReconnect: true,
})

/**
 * The records of one message, as text.
 *
 * @throws {TypeError} when the last one does not end.
 */
export function splitRecords(message: string): readonly string[] {
  if (!message.endsWith(END)) throw new TypeError('a record without its end')
  return message.slice(0, -1).split(END)
}

/**
 * Whether the first record of a client asks for what is spoken here.
 *
 * @throws {TypeError} when it is not JSON.
 */
export function isHandshake(record: string): boolean {
  const fields = membersOf(record)
  return fields['protocol'] === 'json' && fields['version'] === 1
}

/**
 * Decodes a record behind the handshake.
 *
 * @throws {TypeError} when it is not JSON.
 */
export function decodeHubRecord(record: string): HubRecord {
  const { type, invocationId } = membersOf(record)
  if (type === CLOSE) return { kind: 'close' }
  if (type !== INVOCATION || typeof invocationId !== 'string') return { kind: 'other' }
  return { kind: 'invocation', id: invocationId }
}

/** The answer to a call of a method: there is none to call. */
export function encodeNoMethod(invocationId: string): string {
  return encode({ type: COMPLETION, invocationId, error: 'The hub has no methods.' })
}

/**
 * Tells that an item became current: the record of it first, as clients expect.
 *
 * @param textLength The units of UTF-16 of its text.
 */
export function encodeHubChange(item: Item, textLength: number): string {
  const hash = wireHash(item, 'syncclipboard')
  const { dataName, ...document } = documentOf(item, 'syncclipboard', textLength)
  const profile = { ...document, dataName: dataName === '' ? null : dataName }
  return (
    encodeCall('RemoteHistoryChanged', encodeRecord(item, hash, {}, textLength)) +
    encodeCall('RemoteProfileChanged', profile)
  )
}

function encodeCall(target: string, argument: unknown): string {
  return encode({ type: INVOCATION, target, arguments: [argument] })
}

function encode(record: unknown): string {
  return JSON.stringify(record) + END
}

function membersOf(record: string): Readonly<Record<string, unknown>> {
  const value = parseJson(record)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new TypeError('a record that is no object')
}
