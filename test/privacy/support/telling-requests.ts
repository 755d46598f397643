/**
 * Requests that fail, each with secrets wherever a request can hold any.
 * @module
 */

import type { HttpErrorCode } from '../../../src/http/http-error.ts'
import { secretWord } from './secrets.ts'

/** A request, byte for byte, and the failure that it meets. */
export interface TellingRequest {
  readonly what: string
  readonly bytes: string
  readonly code: HttpErrorCode
}

/** Limits that these requests reach. */
export const TELLING_LIMITS: readonly string[] = [
  '--max-file-bytes',
  '64KiB',
  '--max-metadata-bytes',
  '32KiB',
]

const LINE = secretWord('request line')
const HEADER = secretWord('request header')
const BODY = secretWord('request body')
const WRONG = secretWord('wrong password')

/** More than a document may have, and more than a file. */
const LONG = BODY.repeat(2000)
const LONGER = BODY.repeat(2700)

const FORM_END = `--${BODY}--\r\n`

/**
 * @param authorization The header of a device.
 * @param dataName Percent-encoded, of a file that is there.
 */
export function tellingRequests(
  authorization: string,
  dataName: string,
): readonly TellingRequest[] {
  const login = `Authorization: ${authorization}`
  return [
    ...framing(login),
    ...paths(login, dataName),
    ...credentials(login),
    ...documents(login),
    ...forms(login),
  ]
}

function framing(login: string): readonly TellingRequest[] {
  const to = `/${LINE}?${LINE}`
  const version = `GET ${to} HTTP/2.0\r\nHost: box\r\nX: ${HEADER}\r\n\r\n`
  const coding = `Transfer-Encoding: ${HEADER}`
  const lengths = ['Content-Length: 1', 'Transfer-Encoding: chunked']
  return [
    row('BAD_REQUEST', 'a header without a colon', ask(login, `GET ${to}`, `X ${HEADER}`)),
    row('BAD_REQUEST', 'two hosts', ask(login, `GET ${to}`, `Host: ${HEADER}`)),
    row('BAD_REQUEST', 'a method of its own', ask(login, `${LINE} ${to}`)),
    row('BAD_REQUEST', 'two lengths', ask(login, `PUT ${to}`, ...lengths)),
    row('VERSION_UNSUPPORTED', 'a version', version),
    row('TRANSFER_CODING_UNSUPPORTED', 'a coding', ask(login, `PUT ${to}`, coding)),
    row('HEADERS_TOO_LARGE', 'a long header', ask(login, `GET ${to}`, `X: ${HEADER.repeat(999)}`)),
    row('TARGET_TOO_LONG', 'a long target', ask(login, `GET /${LINE.repeat(330)}`)),
    row('UNSUPPORTED_ENCODING', 'a code', ask(login, 'PUT /file/a', `Content-Encoding: ${HEADER}`)),
    row('EXPECTATION_FAILED', 'a wish', ask(login, 'PUT /file/a', `Expect: ${HEADER}`)),
  ]
}

function paths(login: string, dataName: string): readonly TellingRequest[] {
  const origin = `Origin: http://${HEADER}`
  const file = `GET /file/${dataName}?${LINE}`
  return [
    row('BAD_PATH', 'broken percent-encoding', ask(login, `GET /file/${LINE}%zz`)),
    row('BAD_PATH', 'no profile id', ask(login, `GET /api/history/${LINE}`)),
    row('BAD_PATH', 'no item type', ask(login, `PATCH /api/history/${LINE}/${LINE}`)),
    row('BAD_NAME', 'a path for a name', ask(login, `GET /file/${LINE}%2f${LINE}`)),
    row('NOT_FOUND', 'no such path', ask(login, `GET /${LINE}`)),
    row('NOT_FOUND', 'no such file', ask(login, `GET /file/${LINE}`)),
    row('NOT_FOUND', 'no such record', ask(login, `GET /api/history/Text-${LINE}`)),
    row('METHOD_NOT_ALLOWED', 'no such method', ask(login, `PATCH /Sync.json?${LINE}`)),
    row('FORBIDDEN_ORIGIN', 'a foreign page', ask(login, 'PUT /file/a', origin)),
    row('RANGE_NOT_SATISFIABLE', 'a range of nothing', ask(login, file, 'Range: bytes=999999-')),
    row('PRECONDITION_FAILED', 'another tag', ask(login, file, `If-Match: "${HEADER}"`)),
  ]
}

function credentials(login: string): readonly TellingRequest[] {
  const refused = (what: string, ...fields: readonly string[]): TellingRequest => {
    const lines = [`GET /${LINE}?${LINE} HTTP/1.1`, 'Host: box', ...fields, '', '']
    return row('UNAUTHORIZED', what, lines.join('\r\n'))
  }
  return [
    refused('no credentials', `Cookie: ${HEADER}`),
    refused('wrong credentials', basic(`${HEADER}:${WRONG}`)),
    refused('credentials that are too long', basic(`${HEADER}:${WRONG.repeat(99)}`)),
    refused('credentials without a colon', basic(WRONG)),
    refused('credentials that are not base64', `Authorization: Basic ${HEADER}*`),
    refused('credentials of another kind', `Authorization: Bearer ${HEADER}`),
    refused('credentials twice', login, basic(`${HEADER}:${WRONG}`)),
  ]
}

function documents(login: string): readonly TellingRequest[] {
  const to = `PUT /Sync.json?${LINE}`
  const push = (body: string): string => send(login, to, body)
  const chunked = `${ask(login, to, 'Transfer-Encoding: chunked')}10000\r\n${LONG}`
  return [
    row('BAD_BODY', 'no JSON', push(`{"type":"Text","text":"${BODY}`)),
    row('BAD_BODY', 'no JSON from the start', push(BODY)),
    row('BAD_BODY', 'no UTF-8', push(`{"type":"Text","text":"${BODY}\xff"}`)),
    row('BAD_BODY', 'another item type', push(`{"type":"${BODY}"}`)),
    row('BAD_BODY', 'a member of the wrong type', push(`{"type":"Text","text":{"${BODY}":1}}`)),
    row('BAD_NAME', 'a path for a data name', push(`{"type":"File","dataName":"../${BODY}"}`)),
    row('NOTHING_STAGED', 'no upload', push(`{"type":"File","dataName":"${BODY}","hasData":true}`)),
    row('BODY_TOO_LARGE', 'a long document', push(LONG)),
    row('BODY_TOO_LARGE', 'a long document in chunks', chunked),
    row('BODY_TOO_LARGE', 'a long file', send(login, `PUT /file/${LINE}`, LONGER)),
  ]
}

function forms(login: string): readonly TellingRequest[] {
  const to = `POST /api/history?${LINE}`
  const post = (body: string, type = 'application/x-www-form-urlencoded'): string => {
    return send(login, to, body, `Content-Type: ${type}`)
  }
  const form = (...parts: readonly string[]): string => {
    return post([...parts, FORM_END].join(''), `multipart/form-data; boundary=${BODY}`)
  }
  const half = post(field('text'), `multipart/form-data; boundary=${BODY}`)
  const disposition = `Content-Disposition: form-data; name="data"; filename="${BODY}"`
  const nested = `${disposition}\r\nContent-Type: multipart/mixed; boundary=${BODY}`
  const encoded = `${disposition}\r\nContent-Transfer-Encoding: ${BODY}`
  const outside = disposition.replace('filename="', 'filename="../')
  const file = [field('type', 'File'), field('hash', 'ab')]
  return [
    row('BAD_BODY', 'another item type in a form', post(`type=${BODY}&hash=${BODY}`)),
    row('BAD_BODY', 'no hash in a form', post(`type=Text&text=${BODY}`)),
    row('BAD_BODY', 'a form that is not UTF-8', post(`type=Text&hash=a&text=${BODY}%ff`)),
    row('MULTIPART_BOUNDARY', 'no boundary', post(BODY, `multipart/form-data; note=${HEADER}`)),
    row('MULTIPART_MALFORMED', 'a part header without a colon', form(part(`X-Note ${BODY}`))),
    row('MULTIPART_TRUNCATED', 'half a form', half),
    row('MULTIPART_NESTED', 'a form in a form', form(part(nested))),
    row('UNSUPPORTED_ENCODING', 'an encoded part', form(part(encoded))),
    row('FIELD_TOO_LARGE', 'a long field', form(field('text', LONG))),
    row('FIELDS_TOO_LARGE', 'long fields', form(field('text', LONG.slice(0, 20_000)).repeat(2))),
    row('PART_HEADER_TOO_LARGE', 'a long part header', form(part(`X-Note: ${LONG}`))),
    row('PADDING_TOO_LARGE', 'a long preamble', form(LONGER)),
    row('TOO_MANY_PARTS', 'many parts', form(field('a').repeat(100))),
    row('FILE_TOO_LARGE', 'a long file in a form', form(part(disposition, LONGER))),
    row('BAD_NAME', 'a path for a file name in a form', form(...file, part(outside))),
  ]
}

function row(code: HttpErrorCode, what: string, bytes: string): TellingRequest {
  return { code, what, bytes }
}

function ask(login: string, line: string, ...fields: readonly string[]): string {
  const head = [`${line} HTTP/1.1`, 'Host: box', login, `X-Note: ${HEADER}`, ...fields]
  return [...head, '', ''].join('\r\n')
}

function send(login: string, line: string, body: string, ...fields: readonly string[]): string {
  return ask(login, line, ...fields, `Content-Length: ${body.length}`) + body
}

function part(header: string, content: string = BODY): string {
  return `--${BODY}\r\n${header}\r\n\r\n${content}\r\n`
}

function field(name: string, content?: string): string {
  return part(`Content-Disposition: form-data; name="${name}"`, content)
}

function basic(pair: string): string {
  return `Authorization: Basic ${Buffer.from(pair).toString('base64')}`
}
