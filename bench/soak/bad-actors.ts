/**
 * Those who break off, guess, stall and talk nonsense. The daemon may refuse them in any way but
 * by failing itself.
 * @module
 */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { nameOf } from './content.ts'
import type { SoakPhone } from './phone.ts'
import type { Random } from './random.ts'
import { pause, type Actor, type World } from './world.ts'

const MIB = 1024 * 1024

/** Nobody waits longer for an answer to nonsense. */
const PATIENCE_MS = 1500

/** What may become of a login that is wrong. */
const REFUSED = [401, 429, 503]

/** New passwords in bursts; never the right one. */
export function guesser({ tally }: World, phone: SoakPhone): Actor {
  return {
    who: 'guess',
    pause: [500, 4000],
    async step(random) {
      const guesses = Array.from({ length: random.int(1, 40) }, async () => {
        const pair = `${phone.username}:guess ${random.next()}`
        const headers = { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
        tally.judge('guess', (await phone.ask('GET', '/Sync.json', { headers })).status, REFUSED)
      })
      await Promise.all(guesses)
    },
  }
}

/** A phone that never gets the new password. */
export function stalePoller({ tally }: World, phone: SoakPhone): Actor {
  const pair = Buffer.from(`${phone.username}:old`).toString('base64')
  const headers = { Authorization: `Basic ${pair}` }
  return {
    who: 'old password',
    pause: [500, 1500],
    async step() {
      const { status } = await phone.ask('GET', '/Sync.json', { headers })
      tally.judge('old password', status, REFUSED)
    },
  }
}

/** An upload that ends in the middle, in one way or another. */
export function aborter({ tally, signal }: World, phone: SoakPhone): Actor {
  return {
    who: 'abort',
    pause: [200, 2000],
    async step(random) {
      const socket = phone.open()
      const size = random.size(1000, 16 * MIB)
      const name = nameOf(random.int(0, 9), size, 'bin')
      socket.write(headOf(phone, `PUT /file/${name}`, `Content-Length: ${size}\r\n`))
      const sent = Math.floor(size * random.next())
      for (let at = 0; at < sent && !socket.destroyed; at += 64 * 1024) {
        if (!socket.write(Buffer.alloc(Math.min(64 * 1024, sent - at)))) await drained(socket)
      }
      await pause(signal, random.int(0, 300))
      const how = random.pick(['end', 'destroy', 'reset'] as const)
      if (how === 'end') socket.end()
      else if (how === 'reset') socket.resetAndDestroy()
      tally.count('abort', how)
      await pause(signal, 50)
      socket.destroy()
    },
  }
}

/** Event streams that come and go; some of them are never read. */
export function streamer({ tally, signal }: World, phone: SoakPhone): Actor {
  return {
    who: 'event stream',
    pause: [100, 3000],
    async step(random) {
      const socket = phone.open()
      const isRead = random.chance(0.8)
      let told = ''
      if (isRead) socket.setEncoding('latin1').on('data', (text: string) => (told += text))
      const answered = new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
      socket.write(headOf(phone, 'GET /api/sse/clipboard'))
      await pause(signal, random.int(200, 15_000))
      // On a busy machine a login may take longer than that.
      if (isRead && !signal.aborted) await answered
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(told) ?? []
      if (isRead && !signal.aborted) tally.judge('event stream', Number(status ?? 0), [200])
      if (told.includes('event: update')) tally.count('event stream', 'with updates')
      if (random.chance(0.5)) socket.resetAndDestroy()
      else socket.destroy()
    },
  }
}

/** Asks for a large file, and takes it in sips, or not at all. */
export function slowReader({ tally, signal }: World, phone: SoakPhone): Actor {
  return {
    who: 'slow reader',
    pause: [500, 3000],
    async step(random) {
      const { dataName = '' } = JSON.parse(String((await phone.ask('GET', '/Sync.json')).body))
      const socket = phone.open().pause()
      const path = dataName === '' ? '/Sync.json' : `/file/${encodeURIComponent(String(dataName))}`
      socket.write(headOf(phone, `GET ${path}`))
      for (let sips = random.int(0, 20); sips > 0 && !socket.destroyed; sips--) {
        await pause(signal, 200)
        socket.read()
      }
      tally.count('slow reader', socket.destroyed ? 'cut off' : 'left')
      socket.destroy()
    },
  }
}

/** Connections without a request, or with a part of one. */
export function silent({ tally, signal }: World, phone: SoakPhone): Actor {
  return {
    who: 'silent',
    pause: [50, 1000],
    async step(random) {
      const sockets = Array.from({ length: random.int(1, 30) }, () => phone.open())
      const start = headOf(phone, 'GET /Sync.json')
      for (const socket of sockets) {
        if (random.chance(0.5)) socket.write(start.slice(0, random.int(1, start.length - 1)))
      }
      await pause(signal, random.int(0, 12_000))
      for (const socket of sockets) {
        if (random.chance(0.3)) socket.resetAndDestroy()
        socket.destroy()
      }
      tally.count('silent', 'connections')
    },
  }
}

/** Requests that nobody should send, and good ones with some bytes changed. */
export function babbler(world: World, phone: SoakPhone): Actor {
  const { tally, signal } = world
  return {
    who: 'nonsense',
    pause: [20, 200],
    async step(random) {
      const socket = phone.open()
      let answer = ''
      socket.setEncoding('latin1').on('data', (text: string) => {
        if (answer.length < 4096) answer += text
      })
      const closed = once(socket, 'close').catch(() => undefined)
      socket.end(nonsense(phone, random), 'latin1')
      await Promise.race([closed, pause(signal, PATIENCE_MS)])
      socket.destroy()
      const [, digits] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? []
      tally.count('nonsense', digits ?? 'no answer')
      if (digits === '500') tally.fault('nonsense', answer)
    },
  }
}

function nonsense(phone: SoakPhone, random: Random): string {
  const body = JSON.stringify({ type: 'Text', text: 'from somebody who babbles' })
  const length = `Content-Length: ${body.length}\r\n`
  const chunked = 'Transfer-Encoding: chunked\r\n'
  const form = 'Content-Type: multipart/form-data; boundary=a\r\nContent-Length: 99\r\n'
  const request = random.pick([
    headOf(phone, 'GET /Sync.json', 'Range: bytes=0-5,7-9\r\n'),
    headOf(phone, 'PUT /Sync.json', length) + body,
    headOf(phone, 'PUT /Sync.json', length + chunked) + body,
    headOf(phone, 'PUT /Sync.json', chunked) + `5;x=${'y'.repeat(99)}\r\n{"a":\r\nzz\r\n`,
    headOf(phone, 'PUT /file/..%2fa', length) + body,
    headOf(phone, 'GET /file/%zz'),
    headOf(phone, 'POST /api/history', form) + '--a\r\nContent-Disposition: form-data\r\n\r\n',
    headOf(phone, 'POST /api/history', length) + 'type=Text&hash=1&text=%E4%BD%A0&&&==%',
    headOf(phone, 'PATCH /api/history/Text/x'),
    headOf(phone, 'GET /', `X: ${'y'.repeat(random.size(1, 40_000))}\r\n`),
    headOf(phone, 'PUT /Sync.json', 'Content-Encoding: gzip\r\n' + length) + body,
    headOf(phone, 'PUT /file/a', 'Expect: 100-continue\r\nContent-Length: 5\r\n'),
    headOf(phone, 'GET /Sync.json').repeat(random.int(1, 30)),
    'GET / HTTP/3.0\r\n\r\n',
    '\0\0\0',
  ])
  return random.chance(0.5) ? request : mutate(request, random)
}

/** Changes, removes or doubles a few bytes; the login is left alone. */
function mutate(request: string, random: Random): string {
  let text = request
  for (let changes = random.int(1, 4); changes > 0; changes--) {
    const at = random.int(0, text.length - 1)
    const other = random.pick(['', '\0', '\r', '\n', ' ', ':', '%', '\xff', text.slice(at, at + 9)])
    text = text.slice(0, at) + other + text.slice(at + random.int(0, 2))
  }
  return text
}

function headOf({ authorization }: SoakPhone, line: string, headers = ''): string {
  return `${line} HTTP/1.1\r\nHost: box\r\nAuthorization: ${authorization}\r\n${headers}\r\n`
}

async function drained(socket: Socket): Promise<void> {
  // A server that has heard enough closes.
  await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined)
}
