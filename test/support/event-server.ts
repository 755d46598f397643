/**
 * A gateway that does what the script of a test says: each request for its event stream, and for
 * its document, is handed to the test.
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Mailbox } from './mailbox.ts'

export const CREDENTIALS: { readonly user: string; readonly pwd: string } = {
  user: 'watcher_1',
  pwd: 'secret-password',
}

/** One request, to be answered by the test. */
export class ScriptedAnswer {
  readonly headers: IncomingMessage['headers']
  readonly response: ServerResponse
  /** Resolves when the connection is gone, or the answer complete. */
  readonly closed: Promise<unknown>

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.headers = request.headers
    this.response = response
    this.closed = once(response, 'close')
  }

  /** Answers with a status, and says nothing more. */
  refuse(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.response.writeHead(status, headers).end()
  }
}

/** A request for the event stream. */
export class ScriptedStream extends ScriptedAnswer {
  /** Begins the stream as a gateway does. */
  hello(): this {
    this.response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    return this.event('hello')
  }

  event(type: string): this {
    return this.write(`event: ${type}\ndata: {"server_time_ms":1}\n\n`)
  }

  write(text: string): this {
    this.response.write(text)
    return this
  }

  end(): void {
    this.response.end()
  }
}

/** A request for the document. */
export class ScriptedPull extends ScriptedAnswer {
  readonly #server: EventServer

  constructor(server: EventServer, request: IncomingMessage, response: ServerResponse) {
    super(request, response)
    this.#server = server
  }

  /** The value of the condition; `undefined` when the request has no condition. */
  get etag(): string | undefined {
    return this.headers['if-none-match']
  }

  /** Answers with the document as it is now. */
  answer(): void {
    const { document, etag } = this.#server
    if (etag !== undefined && etag === this.etag) return this.refuse(304, { ETag: etag })
    if (etag !== undefined) this.response.setHeader('ETag', etag)
    this.response.writeHead(200, { 'Content-Type': 'application/json' })
    this.response.end(JSON.stringify(document))
  }
}

export class EventServer {
  readonly streams: Mailbox<ScriptedStream> = new Mailbox()
  /** Those that were answered already, too. */
  readonly pulls: Mailbox<ScriptedPull> = new Mailbox()
  /** Answers pulls; the test may replace it. */
  onPull: (pull: ScriptedPull) => void = (pull) => pull.answer()
  url = ''
  document: object = { type: 'Text', text: '', hasData: false, size: 0, hash: '', dataName: '' }
  etag: string | undefined
  #activations = 0

  /** Makes a text the current item. */
  activate(text: string, contentId: string = contentIdOf(text)): void {
    const size = Buffer.byteLength(text)
    this.activateDocument({ type: 'Text', text, hasData: false, size, dataName: '', contentId })
  }

  activateDocument(document: object): void {
    this.document = document
    this.etag = `"${++this.#activations}"`
  }
}

/** Serves on a free port until the test ends. */
export async function startEventServer(t: TestContext): Promise<EventServer> {
  const scripted = new EventServer()
  const server = createServer((request, response) => {
    if (request.url === '/api/sse/clipboard') {
      scripted.streams.put(new ScriptedStream(request, response))
      return
    }
    const pull = new ScriptedPull(scripted, request, response)
    scripted.onPull(pull)
    scripted.pulls.put(pull)
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // `listen` was given an address, so this is one.
  scripted.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return scripted
}

/** Any that differs for different texts. */
function contentIdOf(text: string): string {
  return `blake3v1:${Buffer.from(text).toString('hex').slice(0, 64).padStart(64, '0')}`
}
