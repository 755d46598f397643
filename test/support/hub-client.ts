/**
 * A client of the message hub that sends and reads single frames, on a connection that the test
 * holds.
 * @module
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { RawClient, type RawResponse } from './raw-http.ts'
import { clientFrame } from './websocket-frames.ts'

const END = '\u001e'

/** What a client sends before it is told anything. */
export const HANDSHAKE = '{"protocol":"json","version":1}'

/** The record with which the server ends a connection that may be opened again. */
export const HUB_FAREWELL = {
  type: 7,
  error: 'The connection was ended by the server.',
  allowReconnect: true,
} as const

/** A frame of the server. */
export interface HubFrame {
  readonly opcode: 'text' | 'close' | 'pong' | number
  readonly payload: Buffer
}

/** Where the hub is, and who asks. */
export interface HubAddress {
  readonly port: number
  readonly authorization: string
}

/** The head of a request for a WebSocket. `fields` are whole lines. */
export function hubHead(authorization: string, query = '', fields: readonly string[] = []): string {
  const own = ['Host: box', 'Connection: Upgrade', 'Upgrade: websocket']
  const key = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']
  const login = `Authorization: ${authorization}`
  const lines = [`GET /SyncClipboardHub${query} HTTP/1.1`, ...own, ...key, login, ...fields, '', '']
  return lines.join('\r\n')
}

/** A WebSocket to the hub. */
export class HubClient {
  readonly raw: RawClient

  private constructor(raw: RawClient) {
    this.raw = raw
  }

  /** Opens the socket, and says nothing on it. */
  static async connect(t: TestContext, address: HubAddress, query = ''): Promise<HubClient> {
    const raw = await RawClient.open(t, address.port)
    return HubClient.on(raw, hubHead(address.authorization, query))
  }

  /** Changes a connection over. */
  static async on(raw: RawClient, head: string): Promise<HubClient> {
    const { status, headers } = await raw.send(head).read()
    assert.deepEqual(
      [status, headers['sec-websocket-accept']],
      [101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='],
    )
    return new HubClient(raw)
  }

  /** Opens the socket, and agrees on the protocol. */
  static async open(t: TestContext, address: HubAddress, query = ''): Promise<HubClient> {
    const client = await HubClient.connect(t, address, query)
    client.say(HANDSHAKE)
    assert.deepEqual(await client.hear(), [{}])
    return client
  }

  /** Asks for a socket that is refused. */
  static async refused(t: TestContext, port: number, head: string): Promise<RawResponse> {
    const raw = await RawClient.open(t, port)
    return raw.send(head).read()
  }

  /** Sends one record. */
  say(record: string): void {
    this.send(clientFrame(0x1, Buffer.from(record + END)))
  }

  /** Sends bytes as they are. */
  send(bytes: Uint8Array): void {
    this.raw.send(Buffer.from(bytes).toString('latin1'))
  }

  /** The next frame. */
  async frame(): Promise<HubFrame> {
    const [first = 0, second = 0] = await this.#take(2)
    const long = second === 127 ? 8 : 2
    const length = second < 126 ? second : Number(`0x${(await this.#take(long)).toString('hex')}`)
    const names = new Map([
      [0x81, 'text' as const],
      [0x88, 'close' as const],
      [0x8a, 'pong' as const],
    ])
    return { opcode: names.get(first) ?? first, payload: await this.#take(length) }
  }

  /** The records of the next message. */
  async hear(): Promise<readonly unknown[]> {
    const { opcode, payload } = await this.frame()
    assert.equal(opcode, 'text')
    const text = payload.toString()
    assert.ok(text.endsWith(END))
    return text
      .slice(0, -1)
      .split(END)
      .map((record): unknown => JSON.parse(record))
  }

  /** Reads the end of the connection. @returns The code of the close frame. */
  async end(): Promise<number> {
    const { opcode, payload } = await this.frame()
    assert.equal(opcode, 'close')
    assert.equal(await this.raw.readToEnd(), '')
    return payload.readUInt16BE()
  }

  async #take(count: number): Promise<Buffer> {
    return Buffer.from(await this.raw.readBytes(count), 'latin1')
  }
}
