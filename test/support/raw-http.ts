/** A client that sends exactly the bytes it is told to, and reads whole answers. @module */

import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { secure, twinOf } from './secure-twin.ts'

/** One answer, as it came. */
export interface RawResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One connection; text is latin1, so that each character is a byte. */
export class RawClient {
  readonly #socket: Socket
  #received = ''
  #isClosed = false
  #wake: () => void = () => {}

  /** @param socket Connected, over TLS or not. */
  constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#received += text
      this.#wake()
    })
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
    // A reset is a way for a server to close.
    socket.on('error', () => {})
  }

  /** @param localAddress The address of this machine to connect from. */
  static async connect(
    port: number,
    host = '127.0.0.1',
    localAddress?: string,
  ): Promise<RawClient> {
    const to = twinOf(port)
    const from = localAddress === undefined ? {} : { localAddress }
    const socket = connect({ port: to.port, host, ...from })
    const client = new RawClient(to.isSecure ? secure(socket) : socket)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    if (to.isSecure) {
      // Who has too many connections is hung up on before the handshake.
      await new Promise((resolve) =>
        client.socket.once('secureConnect', resolve).once('close', resolve),
      )
    }
    return client
  }

  /** Connects for as long as a test runs. */
  static async open(t: TestContext, port: number): Promise<RawClient> {
    const client = await RawClient.connect(port)
    t.after(() => client.close())
    return client
  }

  get socket(): Socket {
    return this.#socket
  }

  send(text: string): this {
    this.#socket.write(text, 'latin1')
    return this
  }

  /** Reads the next answer, those of 1xx included. */
  async read(method = 'GET'): Promise<RawResponse> {
    const head = await this.#until((text) => text.indexOf('\r\n\r\n'))
    const [statusLine = '', ...lines] = this.#take(head + 4)
      .split('\r\n')
      .filter(Boolean)
    const headers = Object.fromEntries(lines.map(parseField))
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    const isEmpty = method === 'HEAD' || status < 200 || status === 204 || status === 304
    const length = isEmpty ? 0 : Number(headers['content-length'] ?? Number.NaN)
    if (Number.isNaN(length)) throw new Error(`An answer without a length: ${statusLine}`)
    await this.#until((text) => (text.length >= length ? length : -1))
    return { status, headers, body: this.#take(length) }
  }

  /** Everything up to the next `mark`, which is included. */
  async readUntil(mark: string): Promise<string> {
    const at = await this.#until((text) => text.indexOf(mark))
    return this.#take(at + mark.length)
  }

  /** The next `count` bytes, as characters. */
  async readBytes(count: number): Promise<string> {
    await this.#until((text) => (text.length >= count ? count : -1))
    return this.#take(count)
  }

  /** Everything until the server has closed the connection. */
  async readToEnd(): Promise<string> {
    while (!this.#isClosed) await this.#arrival()
    return this.#take(this.#received.length)
  }

  close(): void {
    this.#socket.destroy()
  }

  async #until(find: (text: string) => number): Promise<number> {
    for (;;) {
      const at = find(this.#received)
      if (at !== -1) return at
      if (this.#isClosed) throw new Error(`Closed after ${JSON.stringify(this.#received)}`)
      await this.#arrival()
    }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #take(length: number): string {
    const text = this.#received.slice(0, length)
    this.#received = this.#received.slice(length)
    return text
  }
}

function parseField(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
