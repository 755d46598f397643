/**
 * The connect link: one `clip://connect?v=1&svc=mobile-sync&p=…` with all that a client needs to
 * connect, usually shown as a QR code.
 *
 * A link holds a password in plain text. Nothing here logs, and no error quotes its input; people
 * and logs get {@link redactLink | the redacted view}. Parsing is strict: a link that two clients
 * could read differently is refused.
 * @module
 */

import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { LinkError } from './link-error.ts'

/** Longer links make QR codes that phones cannot read. Binds the encoder only. */
export const MAX_LINK_LENGTH = 800

/** Longest payload that is decoded, in characters: far beyond any QR code, harmless to parse. */
const MAX_PAYLOAD_LENGTH = 1024 * 1024

const ENVELOPE_VERSION = '1'
const PAYLOAD_VERSION = 1 as const
const SERVICE = 'mobile-sync'
const PREFIX = `clip://connect?v=${ENVELOPE_VERSION}&svc=${SERVICE}&p=`

// RFC 3986: scheme and host in any case. Nobody makes links with user information or a port, so
// those are another host. The path and the fragment say nothing. Not `new URL()`, which would
// accept line breaks anywhere and take another four fifths of the time.
const ENVELOPE = /^clip:\/\/connect(?:\/[^?#]*)?(?:\?([^#]*))?(?:#|$)/i

const USERNAME = /^[A-Za-z][A-Za-z0-9_]{5,31}$/

/** Text that needs no escape in JSON; this test costs half of `JSON.stringify`. */
const UNESCAPED = /^[ !#-[\]-~]*$/

/** The query of a link. A parameter that occurs twice is empty here, and so is refused. */
interface Envelope {
  v: string | undefined
  svc: string | undefined
  p: string | undefined
}

/** The fields that a link is made from. */
export interface ConnectPayload {
  /** Base URL of the server, `http` or `https`, without a trailing slash. */
  readonly url: string
  readonly user: string
  /** The password, in plain text. */
  readonly pwd: string
  /** Metadata such as `label`. It is never sent over HTTP, and nothing may depend on it. */
  readonly o?: Readonly<Record<string, string>>
}

/** The fields of a link that was parsed. */
export interface ParsedLink extends ConnectPayload {
  readonly v: 1
}

/**
 * Parses a connect link. The checks run in the order of the protocol, so that every client reports
 * the same code for the same broken link. Unknown members, and values in `o` that are not strings,
 * are left out.
 *
 * @throws {LinkError} One of the six {@link LinkDecodeCode | codes} of the protocol; nothing else,
 *   whatever goes in.
 */
export function parseConnectLink(text: string): ParsedLink {
  const payload = parsePayload(decodeCanonical(text) ?? decodeEnvelope(text))
  if (own(payload, 'v') !== PAYLOAD_VERSION) throw new LinkError('UNSUPPORTED_VERSION')
  const url = own(payload, 'url')
  const user = own(payload, 'user')
  const pwd = own(payload, 'pwd')
  if (!isFilled(url) || !isFilled(user) || !isFilled(pwd)) throw new LinkError('MISSING_FIELD')
  if (!isHttpUrl(url)) throw new LinkError('INVALID_URL')
  const o = own(payload, 'o')
  if (!isRecord(o)) return { v: PAYLOAD_VERSION, url, user, pwd }
  return { v: PAYLOAD_VERSION, url, user, pwd, o: onlyStrings(o) }
}

/**
 * Formats a connect link. Equal payloads give byte-equal links, and {@link parseConnectLink} takes
 * every one of them back. Trailing slashes of `url` are left out.
 *
 * @throws {LinkError} One of the {@link LinkEncodeCode | codes of the encoder}.
 */
export function formatConnectLink(payload: ConnectPayload): string {
  if (!isRecord(payload)) throw new LinkError('MISSING_FIELD')
  const { url, user, pwd, o } = payload
  if (!isFilled(url) || !isFilled(user) || !isFilled(pwd)) throw new LinkError('MISSING_FIELD')
  const base = stripTrailingSlashes(url)
  if (!isHttpUrl(base)) throw new LinkError('INVALID_URL')
  if (!USERNAME.test(user)) throw new LinkError('USERNAME_INVALID')
  const fields = `"v":${PAYLOAD_VERSION},"url":${quote(base)},"user":"${user}","pwd":${quote(pwd)}`
  const metadata = o === undefined ? '' : `,"o":${formatMetadata(o)}`
  const link = PREFIX + encodeBase64url(`{${fields}${metadata}}`)
  if (link.length > MAX_LINK_LENGTH) throw new LinkError('LINK_TOO_LONG')
  return link
}

/** The short way for links as encoders make them: what decodes needs no taking apart. */
function decodeCanonical(text: unknown): string | undefined {
  if (typeof text !== 'string' || !text.startsWith(PREFIX)) return undefined
  return decodeParameter(text.slice(PREFIX.length))
}

function decodeEnvelope(text: unknown): string | undefined {
  const { v, svc, p = '' } = parseEnvelope(text)
  if (v !== ENVELOPE_VERSION) throw new LinkError('UNSUPPORTED_VERSION')
  if (svc !== SERVICE) throw new LinkError('UNSUPPORTED_SERVICE')
  return decodeParameter(p)
}

function decodeParameter(p: string): string | undefined {
  return p.length > MAX_PAYLOAD_LENGTH ? undefined : decodeBase64url(p)
}

function parseEnvelope(text: unknown): Envelope {
  const match = typeof text === 'string' ? ENVELOPE.exec(text.trim()) : null
  if (match === null) throw new LinkError('INVALID_SCHEME')
  const query = match[1] ?? ''
  const envelope: Envelope = { v: undefined, svc: undefined, p: undefined }
  // Not `split('&')`, which would turn a text of a hundred million ampersands into an array.
  for (let start = 0, end = 0; start < query.length; start = end + 1) {
    end = query.indexOf('&', start)
    if (end === -1) end = query.length
    const parameter = query.slice(start, end)
    const equals = parameter.indexOf('=')
    const name = percentDecode(parameter.slice(0, Math.max(equals, 0)))
    if (name !== 'v' && name !== 'svc' && name !== 'p') continue
    const doubled = envelope[name] !== undefined
    envelope[name] = doubled ? '' : percentDecode(parameter.slice(equals + 1))
  }
  return envelope
}

/** Invalid percent-encoding stays as it is, and then equals no expected value. */
function percentDecode(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // A URIError says only that the encoding is malformed.
    return text
  }
}

function parsePayload(json: string | undefined): Readonly<Record<string, unknown>> {
  const payload = json === undefined ? undefined : parseJson(json)
  if (!isRecord(payload)) throw new LinkError('PAYLOAD_DECODE_FAILED')
  return payload
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // The message quotes the password; that it is not JSON is all that may be told.
    return undefined
  }
}

/** A property of the object itself: what somebody put on `Object.prototype` came from no link. */
function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function onlyStrings(o: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  if (isStringRecord(o)) return o
  // `fromEntries` defines properties, so that a key `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(o).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** By hand, because objects put integer-like keys first whatever order they came in. */
function formatMetadata(o: unknown): string {
  if (!isRecord(o)) throw new LinkError('METADATA_INVALID')
  let json = ''
  for (const key of Object.keys(o).sort()) {
    const value = o[key]
    if (typeof value !== 'string') throw new LinkError('METADATA_INVALID')
    json += `${json === '' ? '{' : ','}${quote(key)}:${quote(value)}`
  }
  return json === '' ? '{}' : `${json}}`
}

function quote(text: string): string {
  if (UNESCAPED.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new LinkError('TEXT_MALFORMED')
  return JSON.stringify(text)
}

/** Cuts slashes off by hand: a regular expression would take quadratic time on many of them. */
export function stripTrailingSlashes(url: string): string {
  let end = url.length
  while (url.endsWith('/', end)) end--
  return url.slice(0, end)
}

function isHttpUrl(url: string): boolean {
  return url.startsWith('http://') || url.startsWith('https://')
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStringRecord(
  record: Readonly<Record<string, unknown>>,
): record is Readonly<Record<string, string>> {
  return Object.values(record).every((value) => typeof value === 'string')
}

/** The text in place of every secret, whatever its length and characters. */
export const REDACTED = '[redacted]'

/** The metadata that is known to be harmless. A later version announces secrets in `o`. */
const SHOWN_METADATA = ['did', 'install', 'label', 'proto']

/** A link without its secrets; plain data, safe to log and to format as JSON. */
export interface RedactedLink {
  readonly v: 1
  readonly url: string
  readonly user: string
  readonly pwd: typeof REDACTED
  readonly o?: Readonly<Record<string, string>>
}

/**
 * Returns the view of a link without its password. Credentials inside `url`, unknown metadata, and
 * every value that repeats the password are left out as well. A stranger may have written the rest:
 * escape it before it goes to a terminal.
 */
export function redactLink({ v, url, user, pwd, o }: ParsedLink): RedactedLink {
  const show = (text: string): string => (text.includes(pwd) ? REDACTED : text)
  const view = { v, url: show(withoutCredentials(url)), user: show(user), pwd: REDACTED } as const
  if (o === undefined) return view
  const known = Object.entries(o).filter(([key]) => SHOWN_METADATA.includes(key))
  return { ...view, o: Object.fromEntries(known.map(([key, value]) => [key, show(value)])) }
}

function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/, `$1${REDACTED}@`)
}

/** The link to the page of the daemon at `url`, with the payload of a connect link. */
export function pageLinkOf(link: string, url: string): string {
  return `${pageAt(url)}#${link.slice(link.indexOf('&p=') + 3)}`
}

/**
 * The same in a third of the length, for codes in small windows. A payload has no colon, so the
 * page can tell them apart.
 */
export function shortPageLink(url: string, user: string, password: string): string {
  return `${pageAt(url)}#${user}:${encodeURIComponent(password)}`
}

function pageAt(url: string): string {
  return `${stripTrailingSlashes(url)}/phone`
}
