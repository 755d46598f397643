/**
 * A phone with connections of its own, which are kept as phones keep them.
 * @module
 */

import { Agent, request, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** An answer that takes longer is none. */
const PATIENCE_MS = 60_000

export class SoakPhone {
  readonly username: string
  readonly password: string
  /** The value of the header. */
  readonly authorization: string
  readonly #port: number
  readonly #localAddress: string
  readonly #agent: Agent

  /** @param localAddress Of loopback; those who fail do it from an address of their own. */
  constructor(port: number, { username, password }: Credentials, localAddress: string) {
    this.username = username
    this.password = password
    const pair = Buffer.from(`${username}:${password}`).toString('base64')
    this.authorization = `Basic ${pair}`
    this.#port = port
    this.#localAddress = localAddress
    this.#agent = new Agent({ keepAlive: true, maxSockets: 2 })
  }

  /** @throws when the connection breaks, or nothing comes. */
  async ask(method: string, path: string, options: AskOptions = {}): Promise<Got> {
    for (;;) {
      const { outgoing, answer } = this.#send(method, path, options)
      try {
        return await answer
      } catch (error) {
        // A server may close a connection that rests just when it is used again: RFC 9112, 9.3.1.
        if (!outgoing.reusedSocket || !isReset(error)) throw error
      }
    }
  }

  /** A connection of its own, on which anything may be written. */
  open(): Socket {
    const [port, localAddress] = [this.#port, this.#localAddress]
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    // How it ends is up to whoever reads.
    return socket.on('error', () => undefined)
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(method: string, path: string, { headers = {}, body }: AskOptions) {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const outgoing = request({
      host: '127.0.0.1',
      port: this.#port,
      localAddress: this.#localAddress,
      agent: this.#agent,
      method,
      path,
      headers: { Authorization: this.authorization, ...length, ...headers },
      timeout: PATIENCE_MS,
    })
    const answer = new Promise<Got>((resolve, reject) => {
      outgoing.on('error', reject)
      outgoing.on('timeout', () => outgoing.destroy(new Error('nothing came for a minute')))
      outgoing.on('response', (response) => readAll(response).then(resolve, reject))
    })
    outgoing.end(body)
    return { outgoing, answer }
  }
}

async function readAll(response: IncomingMessage): Promise<Got> {
  const chunks: Buffer[] = []
  // Nobody set an encoding, so these are bytes.
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value)
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks) }
}

function isReset(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'EPIPE'
}
