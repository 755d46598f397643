/**
 * How long until a thousand clients know that something was pushed, and what does a waiting client
 * cost? (B12)
 *
 * Five hundred devices with two streams each, on the daemon as users run it. The time is from
 * sending the push, the durable write of the item included, to the arrival at the last client.
 *
 * @module
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addCheapDevices } from '../test/support/many-devices.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { readMemory, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'

const DEVICES = isQuick ? 50 : 500
const STREAMS_PER_DEVICE = 2
const PUSHES = isQuick ? 30 : 200

/** Until what the logins took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = 15_000

void bench(async ({ cleanup, folder }) => {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const devices = await addCheapDevices(join(folder, 'daemon', 'data', 'devices.json'), DEVICES)
  const headers = devices.map(({ authorization }) => authorization)
  const daemon = await startDaemon(cleanup, setup)
  for (const authorization of headers) await logIn(daemon.port, authorization)
  await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: 'warm' }))
  await sleep(REST_MS)

  const before = usageMissing === undefined ? readMemory(daemon.pid).rss : 0
  const readers: Reader[] = []
  cleanup.add(() => readers.forEach(({ socket }) => socket.destroy()))
  for (const authorization of headers) {
    for (let stream = 0; stream < STREAMS_PER_DEVICE; stream++) {
      readers.push(await openStream(daemon.port, authorization))
    }
  }
  await sleep(1000)
  const grownMiB = usageMissing === undefined ? readMemory(daemon.pid).rss - before : 0
  const kibEach = (grownMiB * 1024) / readers.length

  const latencies: number[] = []
  for (let push = 0; push < PUSHES; push++) {
    const arrivals = readers.map((reader) => reader.nextUpdate())
    const start = performance.now()
    const pushed = daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: `${push}` }))
    const times = await Promise.all(arrivals)
    await pushed
    latencies.push(Math.max(...times) - start)
  }
  latencies.sort((a, b) => a - b)
  const p99 = latencies[Math.ceil(latencies.length * 0.99) - 1] ?? Number.NaN
  const note = `${readers.length} streams, ${PUSHES} pushes`
  return [
    judge('B12 latency', { measured: [p99], note }),
    explain('B12 latency', { what: 'the same, each push', unit: 'ms', measured: latencies }),
    usageMissing === undefined
      ? judge('B12 memory', { measured: [kibEach], note })
      : skip('B12 memory', usageMissing),
  ]
})

async function logIn(port: number, authorization: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization } })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`A login was answered with ${answer.status}`)
}

interface Reader {
  readonly socket: Socket
  /** When the next update arrived. */
  nextUpdate(): Promise<number>
}

async function openStream(port: number, authorization: string): Promise<Reader> {
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
