/**
 * Many clients that wait for changes, each on a socket of its own.
 * @module
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { MAX_STREAMS_PER_DEVICE } from '../../src/core/limits.ts'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { HANDSHAKE, hubHead } from '../../test/support/hub-client.ts'
import { clientFrame } from '../../test/support/websocket-frames.ts'

export interface StreamReader {
  readonly socket: Socket
  /** When the next update arrived. */
  nextUpdate(): Promise<number>
}

/** How a client listens; text is latin1. */
export interface Listening {
  readonly request: (authorization: string) => string
  /** Sent once the header of the answer has come. */
  readonly reply?: Uint8Array
  /** Comes when the server has taken the client in. */
  readonly welcome: string
  /** Comes once with each update. */
  readonly update: string
}

export const EVENT_STREAM: Listening = {
  request: (authorization) =>
    `GET /api/sse/clipboard HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`,
  welcome: 'event: hello',
  update: 'event: update\n',
}

export const HUB: Listening = {
  request: hubHead,
  reply: clientFrame(0x1, Buffer.from(`${HANDSHAKE}\u001e`)),
  welcome: '{}\u001e',
  update: 'RemoteProfileChanged',
}

/** Logs in each device, so that its password is remembered. */
export async function logIn(port: number, authorizations: readonly string[]): Promise<void> {
  for (const authorization of authorizations) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization } })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`A login was answered with ${answer.status}`)
  }
}

/** Opens as many streams as these devices may have; they end with the bench. */
export async function openStreams(
  cleanup: AsyncCleanup,
  port: number,
  authorizations: readonly string[],
  listening: Listening = EVENT_STREAM,
): Promise<readonly StreamReader[]> {
  const readers: StreamReader[] = []
  cleanup.add(() => {
    for (const { socket } of readers) socket.destroy()
  })
  for (const authorization of authorizations) {
    for (let stream = 0; stream < MAX_STREAMS_PER_DEVICE; stream++) {
      readers.push(await openStream(port, listening, authorization))
    }
  }
  return readers
}

async function openStream(
  port: number,
  { request, reply, welcome, update }: Listening,
  authorization: string,
): Promise<StreamReader> {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  await once(socket, 'connect')
  let onUpdate: (at: number) => void = () => {}
  const welcomed = new Promise<void>((resolve) => {
    let text = ''
    let isAnswered = false
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (!isAnswered && text.includes('\r\n\r\n')) {
        isAnswered = true
        if (reply !== undefined) socket.write(reply)
      }
      if (text.includes(welcome)) resolve()
      const at = text.lastIndexOf(update)
      if (at === -1) return
      onUpdate(performance.now())
      text = text.slice(at + update.length)
    })
  })
  socket.write(request(authorization))
  await welcomed
  return { socket, nextUpdate: () => new Promise((resolve) => (onUpdate = resolve)) }
}
