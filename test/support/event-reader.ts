/** Reads an event stream frame by frame, and stops reading when it is told to. @module */

import { get, type IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'

/** One frame: an event, or a comment. */
export type Frame =
  | { readonly event: string; readonly data: Readonly<Record<string, unknown>> }
  | { readonly comment: string }

export interface EventReader {
  readonly response: IncomingMessage
  /** The next frame; `undefined` when the server has ended the stream. */
  next(): Promise<Frame | undefined>
  /** All that is still to come until the server ends the stream. */
  rest(): Promise<readonly Frame[]>
  close(): void
}

/** Opens a stream; it is closed when the test ends. */
export async function openEvents(
  t: TestContext,
  url: string,
  authorization: string,
): Promise<EventReader> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/api/sse/clipboard`, { agent: false, headers: { authorization } }, resolve).on(
      'error',
      reject,
    )
  })
  t.after(() => response.destroy())
  const frames = readFrames(response)
  const reader: EventReader = {
    response,
    next: async () => {
      const { done, value } = await frames.next()
      return done === true ? undefined : value
    },
    rest: async () => {
      const all: Frame[] = []
      for await (const frame of frames) all.push(frame)
      return all
    },
    close: () => response.destroy(),
  }
  return reader
}

/** Takes the body of an answer apart, as it comes. */
export async function* readFrames(body: Readable): AsyncGenerator<Frame, void> {
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) {
    text += String(chunk)
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      yield parseFrame(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
  if (text !== '') throw new Error(`Half a frame: ${JSON.stringify(text)}`)
}

/** Exactly the spelling of the contract: one `event` line, then one `data` line. */
function parseFrame(text: string): Frame {
  const [, comment] = /^:(.*)$/.exec(text) ?? []
  if (comment !== undefined) return { comment: comment.trim() }
  const [, event, data] = /^event: ([a-z]+)\ndata: (\{.*\})$/.exec(text) ?? []
  if (event === undefined || data === undefined)
    throw new Error(`No frame: ${JSON.stringify(text)}`)
  return { event, data: JSON.parse(data) }
}
