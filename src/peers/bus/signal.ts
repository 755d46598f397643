/**
 * The signals that members send over the bus: which item each has, and where to get it. They hold
 * no content, and no name of anything.
 * @module
 */

import { isContentId, type ContentId } from '../../core/content-id.ts'
import { isStamp, type Place } from '../../core/stamp.ts'
import {
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  oneOf,
  optional,
  type Decoder,
} from '../../lib/decoder.ts'
import { parseJson } from '../../lib/utf8.ts'
import { withoutTrailing } from '../../lib/without-trailing.ts'
import type { Sealer } from './sealer.ts'

/** The longest base URL, in characters. */
const MAX_URL_LENGTH = 1024

/** `ask` is a `have` and a question: who has something later says so. */
export interface Signal {
  readonly kind: 'have' | 'ask'
  /** The member that sends it. */
  readonly origin: string
  /** Grows with each start of that member. */
  readonly epoch: number
  /** The time of the circle as that member knows it, in Unix milliseconds. */
  readonly time: number
  /** Base URL of its gateway, without a slash at its end. */
  readonly url: string
  /** Its current item. */
  readonly item: SignalItem | undefined
}

/** The item in a signal. */
export interface SignalItem extends Place {
  readonly contentId: ContentId
}

const ORIGIN = /^m_[0-9a-f]{16}$/

const RANK = /^[0-9a-f]{128}$/

/** Decodes the id of a member. */
export const decodeOrigin: Decoder<string> = matching(
  decodeString,
  (value) => ORIGIN.test(value),
  'the id of a member',
)

/** Decodes the number of a start. */
export const decodeEpoch: Decoder<number> = matching(
  decodeNumber,
  (value) => Number.isSafeInteger(value) && value > 0,
  'a positive integer',
)

const decodeFields = objectOf({
  kind: oneOf(['have', 'ask']),
  origin: decodeOrigin,
  epoch: decodeEpoch,
  time: matching(decodeNumber, Number.isSafeInteger, 'an integer'),
  url: decodeString,
  contentId: optional(decodeString),
  stampedAt: optional(decodeNumber),
  stampedBy: optional(decodeString),
  rank: optional(matching(decodeString, (value) => RANK.test(value), 'two SHA-256')),
})

/** The bytes of a signal, before they are sealed. */
export function encodeSignal({ item, ...signal }: Signal): Uint8Array {
  const { contentId, stamp, rank } = item ?? {}
  const fields = { ...signal, contentId, stampedAt: stamp?.at, stampedBy: stamp?.member, rank }
  return new TextEncoder().encode(JSON.stringify(fields))
}

/** Decodes a signal. @throws {TypeError} when the bytes are none; the message quotes nothing. */
export function decodeSignal(bytes: Uint8Array): Signal {
  const { kind, origin, epoch, time, ...fields } = decodeFields(parseJson(bytes))
  const url = parseBaseUrl(fields.url)
  if (url === undefined) throw new TypeError('"url" must be a base URL')
  return { kind, origin, epoch, time, url, item: itemOf(fields) }
}

/** Opens a signal; `undefined` when the key does not open it, or when it is no signal. */
export function openSignal(
  sealer: Pick<Sealer, 'open'>,
  bytes: Uint8Array,
): { readonly signal: Signal; readonly counter: number } | undefined {
  const opened = sealer.open(bytes)
  if (opened === undefined) return undefined
  try {
    return { signal: decodeSignal(opened.payload), counter: opened.counter }
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** A URL of http or https that holds no credentials; `undefined` when it is anything else. */
export function parseBaseUrl(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined
  const { protocol, origin, pathname, username, password, search, hash } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  if (username + password + search + hash !== '') return undefined
  return withoutTrailing(origin + pathname, '/')
}

type Fields = ReturnType<typeof decodeFields>

function itemOf(
  fields: Pick<Fields, 'contentId' | 'stampedAt' | 'stampedBy' | 'rank'>,
): SignalItem | undefined {
  const { contentId, stampedAt: at, stampedBy: member, rank } = fields
  if (contentId === undefined && at === undefined && member === undefined) return undefined
  const stamp = { at, member }
  if (!isContentId(contentId)) throw new TypeError('"contentId" must be a content id')
  if (!isStamp(stamp)) throw new TypeError('"stampedAt" and "stampedBy" must be a stamp')
  return { contentId, stamp, ...(rank && { rank }) }
}
