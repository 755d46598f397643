/**
 * A client that is played: it sends requests byte for byte over a raw socket, and says what it
 * needs to be answered.
 *
 * Whatever a scenario says, after each request another phone looks: an acknowledged push is on the
 * clipboard, for everybody, and nothing else ever changes it.
 * @module
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { FakeClock } from '../../support/fake-clock.ts'
import type { Phone } from '../../support/phone.ts'
import { sha256 } from '../../support/hashes.ts'
import { RawClient } from '../../support/raw-http.ts'
import { assertCurrent, observe, type Item, type Observation } from './observe.ts'

/** The scenarios of one family of clients, by what they show. */
export type Scenarios = Readonly<Record<string, (client: Client) => Promise<void>>>

/** Where a scenario is played. */
export interface Stage {
  readonly port: number
  /** `user:password` of the client, in base64. */
  readonly credentials: string
  /** Another phone of the same person. */
  readonly phone: Phone
  readonly clock: Pick<FakeClock, 'advance'>
}

/** An answer as it came. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

type Status = number | '2xx' | '3xx' | '4xx' | '5xx'

/** What else belongs to a request, and what else the client needs of its answer. */
export interface Exchange {
  readonly body?: string | Buffer
  /** Sizes of the first chunks, when the body is chunked; the rest is the last one. */
  readonly chunks?: readonly number[]
  /** Holds the body back until the server says `100 Continue`. */
  readonly awaitsContinue?: boolean
  /** On a connection of its own. */
  readonly opens?: boolean
  /** The server hangs up after its answer. */
  readonly closes?: boolean
  /** Header fields of the answer; `*` is any value. */
  readonly fields?: Readonly<Record<string, string>>
  /** Header fields that the answer does not have. */
  readonly lacks?: readonly string[]
  /** The answer is JSON with at least these members; arrays have the same length. */
  readonly json?: unknown
  /** The answer is a JSON object without this member. */
  readonly without?: string
  /** The body of the answer, exactly. */
  readonly answer?: string | Buffer
}

/** Puts the bytes of a request on the wire. */
export type Deliver = (client: RawClient, bytes: Buffer) => Promise<void>

/** Delivers all bytes at once. */
export const deliverWhole: Deliver = async (client, bytes) => {
  client.socket.write(bytes)
}

/**
 * Delivers bytes cut where a network might cut them.
 *
 * @param points Where to cut, counted round and round when the bytes are fewer.
 */
export function deliverInPieces(points: readonly number[]): Deliver {
  return async (client, bytes) => {
    client.socket.setNoDelay()
    const wrapped = points.map((point) => point % Math.max(1, bytes.length))
    let from = 0
    for (const to of [...wrapped.sort((a, b) => a - b), bytes.length]) {
      client.socket.write(bytes.subarray(from, to))
      from = to
      // The server, in the same process, gets to read what there is.
      await setImmediate()
    }
  }
}

/** Plays a scenario. @returns The answers, in their order. */
export async function play(
  scenario: (client: Client) => Promise<void>,
  stage: Stage,
  deliver: Deliver = deliverWhole,
): Promise<readonly Answer[]> {
  const client = new Client(stage, deliver, await observe(stage.phone))
  try {
    await scenario(client)
  } finally {
    client.hangUp()
  }
  assert.notEqual(client.answers.length, 0, 'the scenario asks something')
  return client.answers
}

/** A client that talks over one connection at a time, and what another phone sees meanwhile. */
export class Client {
  readonly answers: Answer[] = []
  readonly #stage: Stage
  readonly #deliver: Deliver
  #seen: Observation
  #connection: RawClient | undefined = undefined

  constructor(stage: Stage, deliver: Deliver, seen: Observation) {
    this.#stage = stage
    this.#deliver = deliver
    this.#seen = seen
  }

  /** Lets another phone of the same person push this. */
  async given(item: Item): Promise<void> {
    const { phone } = this.#stage
    if (item[0] === 'Text') await phone.pushText(item[1])
    else await phone.pushFile(...item)
    this.#seen = await observe(phone)
    assertCurrent(this.#seen, item)
  }

  /** Lets time pass on the clock of the gateway. */
  wait(ms: number): void {
    this.#stage.clock.advance(ms)
  }

  /** Shows that this is what another phone reads. */
  sees(item: Item | 'nothing'): void {
    assertCurrent(this.#seen, item)
  }

  /**
   * Sends a request that is no push.
   *
   * @param head The request line (of HTTP/1.1 unless it says) and the fields. `{{host}}`,
   *   `{{credentials}}` (`user:password` in base64) and `{{length}}` of the body are filled in.
   */
  async ask(
    head: readonly string[],
    status: Status | readonly Status[],
    exchange: Exchange = {},
  ): Promise<Answer> {
    const before = this.#seen
    const answer = await this.#exchange(head, status, exchange)
    assert.deepEqual(this.#seen, before, 'only an acknowledged push changes the clipboard')
    return answer
  }

  /** Sends a request that pushes `item`: `nothing` where the clipboard must stay as it was. */
  async push(
    item: Item | 'nothing',
    head: readonly string[],
    status: Status | readonly Status[],
    exchange: Exchange = {},
  ): Promise<Answer> {
    const before = this.#seen
    const answer = await this.#exchange(head, status, exchange)
    const isAcknowledged = fits('2xx', answer.status)
    if (item !== 'nothing' && isAcknowledged) assertCurrent(this.#seen, item)
    else assert.deepEqual(this.#seen, before, 'only an acknowledged push changes the clipboard')
    // Who pushed a document is told what is on the clipboard now.
    const { contentId } = this.#seen.document
    if (isAcknowledged && head[0]?.startsWith('PUT ') && contentId !== undefined) {
      assert.equal(fieldOf(answer, 'contentId'), contentId, 'the contentId is right')
    }
    return answer
  }

  /** Ends the connection; the next request opens another one. */
  hangUp(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  async #exchange(
    head: readonly string[],
    status: Status | readonly Status[],
    exchange: Exchange,
  ): Promise<Answer> {
    const answer = await this.#send(head, exchange)
    this.answers.push(answer)
    checkAnswer(answer, status, exchange)
    this.#seen = await observe(this.#stage.phone)
    return answer
  }

  async #send([start = '', ...fields]: readonly string[], exchange: Exchange): Promise<Answer> {
    const { chunks, awaitsContinue = false, opens = false, closes = false } = exchange
    const body = Buffer.from(exchange.body ?? '')
    const line = / HTTP\/1\.[01]$/.test(start) ? start : `${start} HTTP/1.1`
    const text = [line, ...fields, '', '']
      .join('\r\n')
      .replaceAll('{{host}}', `127.0.0.1:${this.#stage.port}`)
      .replaceAll('{{credentials}}', this.#stage.credentials)
      .replaceAll('{{length}}', String(body.length))
    const head = Buffer.from(text)
    const framed = chunks === undefined ? body : inChunks(body, chunks)
    const [method = ''] = line.split(' ')

    if (opens) this.hangUp()
    this.#connection ??= await RawClient.connect(this.#stage.port)
    const connection = this.#connection
    await this.#deliver(connection, awaitsContinue ? head : Buffer.concat([head, framed]))
    let answer = await connection.read(method)
    if (awaitsContinue && answer.status === 100) await this.#deliver(connection, framed)
    while (answer.status < 200) answer = await connection.read(method)
    const isLast = closes || answer.headers['connection'] === 'close'
    if (closes) assert.equal(await connection.readToEnd(), '', 'the connection ends')
    if (isLast) this.hangUp()
    return { ...answer, body: Buffer.from(answer.body, 'latin1') }
  }
}

function checkAnswer(answer: Answer, wanted: Status | readonly Status[], more: Exchange): void {
  const shown = `the answer is ${answer.status}: ${answer.body.subarray(0, 200)}`
  const isWanted = [wanted].flat().some((status) => fits(status, answer.status))
  assert.ok(isWanted, `${shown}, not ${String(wanted)}`)
  for (const [name, value] of Object.entries(more.fields ?? {})) {
    assert.equal(headerOf(answer, name), value === '*' ? headerOf(answer, name) : value, name)
  }
  for (const name of more.lacks ?? []) assert.equal(answer.headers[name.toLowerCase()], undefined)
  if (more.json !== undefined) assertContains(JSON.parse(answer.body.toString()), more.json, '')
  if (more.without !== undefined) assert.ok(!Object.hasOwn(objectOf(answer), more.without), shown)
  if (more.answer !== undefined) assert.ok(answer.body.equals(Buffer.from(more.answer)), shown)
}

function fits(wanted: Status | readonly Status[], status: number): boolean {
  return wanted === status || wanted === `${Math.floor(status / 100)}xx`
}

/** Objects may have more than is wanted; everything else is the same. */
function assertContains(actual: unknown, wanted: unknown, path: string): void {
  if (typeof wanted !== 'object' || wanted === null) {
    assert.deepEqual(actual, wanted, `${path || 'the answer'} is ${JSON.stringify(actual)}`)
    return
  }
  assert.ok(typeof actual === 'object' && actual !== null, `${path} holds nothing`)
  assert.equal(Array.isArray(actual), Array.isArray(wanted), `${path} is of another kind`)
  if (Array.isArray(wanted)) assert.equal(Reflect.get(actual, 'length'), wanted.length, path)
  for (const [name, value] of Object.entries(wanted)) {
    const own: unknown = Object.hasOwn(actual, name) ? Reflect.get(actual, name) : undefined
    assertContains(own, value, `${path}.${name}`)
  }
}

/** A header field of an answer. @throws {assert.AssertionError} When it is not there. */
export function headerOf({ headers }: Answer, name: string): string {
  const value = headers[name.toLowerCase()]
  assert.ok(value !== undefined, `there is no ${name}`)
  return value
}

/** A member of a JSON answer, as text. @throws {assert.AssertionError} When it is not there. */
export function fieldOf(answer: Answer, name: string): string {
  const object = objectOf(answer)
  assert.ok(Object.hasOwn(object, name), `there is no ${name}`)
  return String(Reflect.get(object, name))
}

function objectOf({ body }: Answer): object {
  return Object(JSON.parse(body.toString()))
}

/** The chunked coding of RFC 9112, 7.1. */
function inChunks(body: Buffer, sizes: readonly number[]): Buffer {
  const pieces: Buffer[] = []
  let rest = body
  for (const wanted of [...sizes, body.length]) {
    const piece = rest.subarray(0, wanted)
    rest = rest.subarray(wanted)
    const size = Buffer.from(`${piece.length.toString(16)}\r\n`)
    if (piece.length > 0) pieces.push(size, piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}

/** Lines of a head that many clients send in this spelling. */
export const HOST = 'Host: {{host}}'
export const LOGIN = 'Authorization: Basic {{credentials}}'
export const LENGTH = 'Content-Length: {{length}}'
export const JSON_TYPE = 'Content-Type: application/json'

/** A file of fixtures/clients/samples. */
export function sample(name: string): Buffer {
  return readFileSync(new URL(`../../../fixtures/clients/samples/${name}`, import.meta.url))
}

/** The SHA-256 in upper-case hex. */
export function SHA256(bytes: string | Buffer): string {
  return sha256(bytes).toUpperCase()
}

/** An encoded word of RFC 2047, in UTF-8 and base64. */
export function rfc2047(text: string): string {
  return `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** A text whose lines end in CR and LF. */
export function crlf(text: string): string {
  return text.replaceAll('\n', '\r\n')
}

/** One part of a multipart form: what its header says, and its value. */
export type Part = readonly [head: string | readonly string[], value: string | number | Buffer]

/**
 * A multipart form.
 *
 * @param parts Fields by their names, or one part each: the parameters of `Content-Disposition:
 *   form-data`, or all lines of the header, and a value.
 */
export function formOf(
  boundary: string,
  ...parts: readonly (Part | Readonly<Record<string, string | number>>)[]
): Buffer {
  const encoded = parts.flatMap(partsOf).flatMap(([head, value]) => {
    const lines = typeof head === 'string' ? [`Content-Disposition: form-data; ${head}`] : head
    const bytes = typeof value === 'number' ? String(value) : value
    return [`--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n`, bytes, '\r\n']
  })
  return join(...encoded, `--${boundary}--\r\n`)
}

function partsOf(part: Part | Readonly<Record<string, string | number>>): readonly Part[] {
  if (isPart(part)) return [part]
  return Object.entries(part).map(([name, value]) => [`name="${name}"`, value])
}

function isPart(part: Part | object): part is Part {
  return Array.isArray(part)
}

/** Texts and bytes, one after the other. */
export function join(...pieces: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
}
