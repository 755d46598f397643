/**
 * Valid requests for any route, as the many clients that there are would write them, in latin1.
 * @module
 */

import type { Random } from './random.ts'

/** A row of an endpoint table. */
export interface Endpoint {
  readonly method: string
  readonly pattern: string
  readonly maxBody: number
}

interface Body {
  readonly type: string
  readonly content: string
}

const NAMES = ['a', 'b.png', 'c%20d.txt', '%E5%86%99%E7%9C%9F.jpg', '100%25', '%F0%9F%99%82', '..a']

const HASHES = ['0', 'ab'.repeat(32), 'AB'.repeat(16), 'Text-ab', 'x-y-z']

const TYPES = ['Text', 'Image', 'File', 'Group', 'text']

/** Header fields that make a request another one, or only longer. */
const FIELDS = [
  ['Connection: close', 'Connection: keep-alive', 'Expect: 100-continue', 'TE: trailers'],
  ['Range: bytes=0-4', 'Range: bytes=-1', 'Range: bytes=0-0,2-3', 'Last-Event-ID: 1'],
  ['If-None-Match: "x"', 'If-None-Match: *', 'If-Match: *', 'If-Range: "x"'],
  ['If-Modified-Since: Sat, 31 Jan 2026 12:34:56 GMT', 'X-Forwarded-For: 10.0.0.1, 192.0.2.7'],
  ['Origin: http://evil.example', 'Origin: null', 'Sec-Fetch-Site: cross-site'],
  ['User-Agent: SyncClipboard/3.0', 'User-Agent: SyncClipboard.Desktop2.1', 'Upgrade: h2c'],
  ['Accept-Encoding: gzip, br', 'Content-Encoding: identity', 'Content-Encoding: gzip'],
  ['Cookie: a=b', 'X-Empty:', 'Accept: text/event-stream'],
].flat()

const DATES_AND_NAMES = ['2026-01-31T12:34:56Z', 'a.png', '\xe5\x86\x99']
const VALUES = ['', 'hello', 'true', '0', '-1', 'null', ...DATES_AND_NAMES]

export interface RequestOptions {
  /** A header line with its end, or nothing. */
  readonly login: string
  /** Changes a body before it is framed, so that it arrives. */
  readonly damage: (text: string) => string
}

/** One request. */
export function makeRequest(random: Random, endpoint: Endpoint, options: RequestOptions): string {
  const { method, pattern, maxBody } = endpoint
  const path = pattern
    .replace('{dataName}', () => random.pick(NAMES))
    .replace('{profileId}', () => `${random.pick(TYPES)}-${random.pick(HASHES)}`)
    .replace('{type}', () => random.pick(TYPES))
    .replace('{hash}', () => random.pick(HASHES))
  const spellings = [`/${path}`, `${path}/`, `${path}?a=b`, `http://box${path}`]
  const target = random.pick([path, path, path, ...spellings])
  const version = random.chance(0.05) ? 'HTTP/1.0' : 'HTTP/1.1'
  const fields = [
    'Host: box',
    ...Array.from({ length: random.below(4) }, () => random.pick(FIELDS)),
  ]
  const hasBody = maxBody > 0 || random.chance(0.1)
  const { type, content } = makeBody(random, endpoint)
  const [framing, body] = hasBody
    ? frame(random, { type, content: options.damage(content) })
    : [[], '']
  const lines = [...fields, ...framing].map((line) => `${line}\r\n`)
  // Somewhere among the others.
  lines.splice(random.below(lines.length + 1), 0, options.login)
  return `${method} ${target} ${version}\r\n${lines.join('')}\r\n${body}`
}

function makeBody(random: Random, { method, pattern }: Endpoint): Body {
  const isForm = method === 'POST'
  const kinds = pattern.endsWith('.json')
    ? [makeDocument]
    : isForm
      ? [makeForm, makeForm, makeUrlencoded, makeDocument]
      : [makeBytes, makeBytes, makeForm, makeDocument]
  return random.pick(kinds)(random)
}

function makeDocument(random: Random): Body {
  const document: Record<string, unknown> = { type: random.pick(TYPES) }
  const keys = ['text', 'Text', 'hasData', 'dataName', 'hash', 'size', 'File', 'Clipboard']
  for (let count = random.below(6); count > 0; count--) {
    document[random.pick([...keys, '__proto__'])] = random.pick<unknown>([
      ...VALUES,
      true,
      1,
      null,
      [],
      {},
    ])
  }
  return { type: 'application/json', content: JSON.stringify(document) }
}

function makeFields(random: Random): readonly (readonly [string, string])[] {
  const known = ['text', 'dataName', 'hasData', 'size', 'starred', 'page', 'types']
  const names = [...known, 'createTime', 'lastAccessed']
  const more = Array.from(
    { length: random.below(5) },
    () => [random.pick(names), random.pick(VALUES)] as const,
  )
  return [['type', random.pick(TYPES)], ['hash', random.pick(HASHES)], ...more]
}

function makeUrlencoded(random: Random): Body {
  const pairs = makeFields(random).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return { type: 'application/x-www-form-urlencoded', content: pairs.join('&') }
}

function makeForm(random: Random): Body {
  const boundary = random.pick(['b', '-'.repeat(70), 'ab-ab', '----WebKitFormBoundary7MA4YWxk'])
  const part = (disposition: string, content: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`
  const parts = makeFields(random).map(([name, value]) => part(`name="${name}"`, value))
  const fileName = random.pick(['a.png', '', '\xe5\x86\x99.txt', 'a%22b', '=?utf-8?B?YQ==?='])
  const spellings = [`filename="${fileName}"`, `filename=${fileName}`, "filename*=UTF-8''a%20b"]
  const file = random.pick(spellings)
  if (random.chance(0.8))
    parts.push(part(`name="data"; ${file}`, `bytes\r\n--${boundary.slice(1)}`))
  return {
    type: `multipart/form-data; boundary="${boundary}"`,
    content: `${parts.join('')}--${boundary}--\r\n`,
  }
}

function makeBytes(random: Random): Body {
  const known = ['application/octet-stream', 'image/*', 'text/html', 'image/png']
  const type = random.pick([...known, 'nonsense'])
  const head = random.pick(['\x89PNG\r\n\x1a\n', 'GIF89a', '', '<script>'])
  return { type, content: head + 'x'.repeat(random.below(300)) }
}

/** The header lines of a body, and how it goes over the wire. */
function frame(random: Random, { type, content }: Body): readonly [readonly string[], string] {
  const described = `Content-Type: ${type}`
  if (random.chance(0.6)) return [[described, `Content-Length: ${content.length}`], content]
  let rest = content
  let framed = ''
  while (rest !== '') {
    const chunk = rest.slice(0, 1 + random.below(rest.length))
    rest = rest.slice(chunk.length)
    framed += `${chunk.length.toString(16)}${random.chance(0.1) ? ';a=b' : ''}\r\n${chunk}\r\n`
  }
  const trailer = random.chance(0.1) ? 'X-Trailer: a\r\n' : ''
  return [[described, 'Transfer-Encoding: chunked'], `${framed}0\r\n${trailer}\r\n`]
}
