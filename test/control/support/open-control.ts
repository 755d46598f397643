/**
 * A control listener on a free port, with everything behind it played by the test.
 * @module
 */

import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createControl } from '../../../src/control/create-control.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { readFrames, type Frame } from '../../support/event-reader.ts'
import { createFakeAdmin, type FakeAdmin } from '../../support/fake-admin.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakePanel } from '../../support/fake-panel.ts'

export const TOKEN = 'a-token-that-nobody-guesses'

export const OWNER: Headers = { Authorization: `Bearer ${TOKEN}` }

export type Headers = Readonly<Record<string, string | string[]>>

export interface AskOptions {
  readonly method?: string
  readonly headers?: Headers
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

export interface OpenControlOptions {
  /** The port of an earlier one, as after a restart. */
  readonly port?: number
  readonly admin?: FakeAdmin
  /** By default 127.0.0.1. */
  readonly host?: string
}

export async function openControl(
  t: TestContext,
  { port: wanted = 0, admin: given, host = '127.0.0.1' }: OpenControlOptions = {},
) {
  const admin = given ?? (await createFakeAdmin())
  const clock = new FakeClock()
  const logger = new CaptureLogger()
  const panel = new FakePanel(() => clock.now())
  const control = createControl({ admin, panel, token: TOKEN, clock, logger })
  const server = createServer(control.listener).on('checkContinue', control.listener)
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await once(server.close(), 'close')
  }
  t.after(close)
  await once(server.listen(wanted, host), 'listening')
  // `listen` was given an address, so this is one.
  const { port } = server.address() as AddressInfo
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`

  /** Unlike `fetch`, it sends any `Host` and `Origin` that it is told to. */
  async function ask(path: string, options: AskOptions = {}): Promise<Answer> {
    const { method = 'GET', headers = {}, body = '' } = options
    const outgoing = httpRequest(new URL(path, url), { method, headers, agent: false }).end(body)
    const [response] = await once(outgoing, 'response')
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return { status: response.statusCode, headers: response.headers, body: text }
  }

  /** The JSON that the owner gets. */
  async function read(path: string) {
    return JSON.parse((await ask(path, { headers: OWNER })).body)
  }

  /** The address that opens the panel, as commands are given it. */
  async function address(): Promise<URL> {
    return new URL((await read('/panel')).url)
  }

  /** What a page sends that was opened with that address. */
  async function page(): Promise<Headers> {
    return { Authorization: `Bearer ${(await address()).hash.slice(1)}` }
  }

  /** Opens the event stream. */
  async function follow(headers: Headers = OWNER) {
    const outgoing = httpRequest(new URL('/events', url), { headers, agent: false }).end()
    const [response] = await once(outgoing, 'response')
    t.after(() => response.destroy())
    const frames = readFrames(response)
    const next = async (): Promise<Frame | undefined> => (await frames.next()).value ?? undefined
    return { response, next }
  }

  return {
    url,
    port,
    clock,
    admin,
    panel,
    logger,
    control,
    ask,
    read,
    address,
    page,
    follow,
    close,
  }
}
