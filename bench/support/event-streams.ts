/**
 * Many clients that wait for events, each on a socket of its own.
 * @module
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { MAX_STREAMS_PER_DEVICE } from '../../src/core/limits.ts'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'

export interface StreamReader {
  readonly socket: Socket
  /** When the next update arrived. */
  nextUpdate(): Promise<number>
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
): Promise<readonly StreamReader[]> {
  const readers: StreamReader[] = []
  cleanup.add(() => {
    for (const { socket } of readers) socket.destroy()
  })
  for (const authorization of authorizations) {
    for (let stream = 0; stream < MAX_STREAMS_PER_DEVICE; stream++) {
      readers.push(await openStream(port, authorization))
    }
  }
  return readers
}

async function openStream(port: number, authorization: string): Promise<StreamReader> {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  await once(socket, 'connect')
  let onUpdate: (at: number) => void = () => {}
  const hello = new Promise<void>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (text.includes('event: hello')) resolve()
      if (text.includes('event: update\n')) onUpdate(performance.now())
      text = text.slice(text.lastIndexOf('\n\n') + 2)
    })
  })
  socket.write(
    `GET /api/sse/clipboard HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`,
  )
  await hello
  return { socket, nextUpdate: () => new Promise((resolve) => (onUpdate = resolve)) }
}
