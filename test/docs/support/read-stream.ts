/**
 * An answer that does not end by itself, read for as long as a test likes.
 * @module
 */

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { parseFrames } from './answer-check.ts'
import type { Answer, Station } from './station.ts'

export interface OpenStream {
  /** As far as it was read. */
  readonly answer: Answer
  /** Reads on until what was read is enough. @throws {Error} When the stream ends before that. */
  until(isEnough: (text: string) => boolean): Promise<void>
  /** Reads on until there was an event of this name. */
  untilEvent(name: string): Promise<void>
  close(): void
}

export async function readStream(
  { url, authorization }: Pick<Station, 'url' | 'authorization'>,
  target: string,
  fields: readonly string[] = [],
): Promise<OpenStream> {
  const own = Object.fromEntries(fields.map((line) => line.split(': ')))
  const request = get(`${url}${target}`, { headers: { ...own, authorization }, agent: false })
  const [response]: IncomingMessage[] = await once(request, 'response')
  if (response === undefined) throw new Error('There is no response')
  const chunks = response.setEncoding('latin1')[Symbol.asyncIterator]()
  let body = ''

  async function readMore(): Promise<boolean> {
    const { done, value } = await chunks.next()
    if (done !== true) body += String(value)
    return done !== true
  }

  async function until(isEnough: (text: string) => boolean): Promise<void> {
    while (!isEnough(body)) {
      if (!(await readMore())) throw new Error(`The stream ended after ${JSON.stringify(body)}`)
    }
  }

  return {
    get answer() {
      return { status: response.statusCode ?? 0, headers: textHeaders(response), body }
    },
    until,
    untilEvent: (name) => until((text) => parseFrames(text).some(({ event }) => event === name)),
    close: () => request.destroy(),
  }
}

function textHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
