/**
 * Those who use the daemon as it is meant to be used. Every answer is looked at.
 * @module
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { isolatedEnvironment } from '../../test/support/daemon-process.ts'
import { bytesOf, nameOf, textOf } from './content.ts'
import { PROGRAM } from './daemon.ts'
import type { Got, SoakPhone } from './phone.ts'
import type { Random } from './random.ts'
import { pause, type Actor, type World } from './world.ts'

const KIB = 1024
const MIB = 1024 * KIB

type Probe = readonly [method: string, path: string, status: number]

const PROBES: readonly [Probe, ...Probe[]] = [
  ['GET', '/healthz', 204],
  ['GET', '/', 200],
  ['GET', '/api/time', 200],
  ['HEAD', '/SyncClipboard.json', 200],
  ['GET', '/api/history/statistics', 200],
  ['POST', '/api/history/query', 200],
  ['GET', '/file/no-such-file', 404],
  ['PROPFIND', '/file', 200],
  ['DELETE', '/api/history/clear', 200],
]

let numbers = 0

/** Asks for the document again and again, and now and then for something else. */
export function poller(world: World, phone: SoakPhone): Actor {
  const { tally } = world
  let etag = ''
  return {
    who: 'poll',
    pause: [50, 600],
    async step(random) {
      const got = await phone.ask('GET', '/Sync.json', { headers: { 'If-None-Match': etag } })
      if (!tally.judge('poll', got.status, [200, 304])) return
      if (got.status === 200) {
        etag = got.headers['etag'] ?? ''
        checkDocument(world, got)
      }
      if (random.chance(0.1)) await probe(world, phone, random)
    },
  }
}

async function probe({ tally }: World, phone: SoakPhone, random: Random): Promise<void> {
  const [method, path, status] = random.pick(PROBES)
  const got = await phone.ask(method, path)
  tally.judge(`${method} ${path}`, got.status, [status])
}

/** What a document tells of its content has to be true. */
function checkDocument({ tally }: World, { body }: Got): void {
  const { type, text, hasData, size, hash } = JSON.parse(String(body))
  if (type !== 'Text' || hasData !== false || hash === '') return
  if (sha256(text) !== hash) tally.fault('poll', 'the hash of a text is wrong')
  if (Buffer.byteLength(text) !== size) tally.fault('poll', 'the size of a text is wrong')
}

/** Downloads whatever is there, whole or in part, and compares it byte for byte. */
export function downloader({ tally }: World, phone: SoakPhone): Actor {
  return {
    who: 'download',
    pause: [100, 1500],
    async step(random) {
      const document = JSON.parse(String((await phone.ask('GET', '/Sync.json')).body))
      const expected = bytesOf(String(document.dataName))
      if (expected === undefined) return
      if (document.hash !== sha256(expected)) tally.fault('download', 'the hash of a file is wrong')
      const [start, end] = random.chance(0.5) ? rangeOf(expected, random) : [0, expected.length]
      const isPart = end - start < expected.length
      const headers = isPart ? { Range: `bytes=${start}-${end - 1}` } : {}
      const got = await phone.ask('GET', `/file/${document.dataName}`, { headers })
      // Another file may have become current meanwhile.
      if (!tally.judge('download', got.status, [isPart ? 206 : 200, 404])) return
      if (got.status !== 404 && !got.body.equals(expected.subarray(start, end))) {
        tally.fault('download', `wrong bytes of ${document.dataName}, ${start} to ${end}`)
      }
    },
  }
}

function rangeOf({ length }: Buffer, random: Random): readonly [number, number] {
  const start = random.int(0, length - 1)
  return [start, random.int(start + 1, length)]
}

export function textPusher({ tally }: World, phone: SoakPhone): Actor {
  return {
    who: 'push a text',
    pause: [200, 2000],
    async step(random) {
      const length = random.chance(0.02) ? 2 * MIB : random.size(1, 100 * KIB)
      const body = JSON.stringify({ type: 'Text', text: textOf(numbers++, length) })
      const path = random.pick(['/Sync.json', '/SyncClipboard.json'])
      const got = await phone.ask('PUT', path, { body })
      tally.judge('push a text', got.status, [200])
    },
  }
}

/** Uploads, then describes; now and then it never describes. */
export function filePusher({ tally }: World, phone: SoakPhone): Actor {
  return {
    who: 'push a file',
    pause: [300, 2500],
    async step(random) {
      const dataName = randomName(random)
      const body = bytesOf(dataName) ?? ''
      const put = await phone.ask('PUT', `/file/${dataName}`, { body })
      if (!tally.judge('upload', put.status, [200]) || random.chance(0.1)) return
      const type = dataName.endsWith('.png') ? 'Image' : 'File'
      const document = JSON.stringify({ type, dataName, hasData: true, hash: sha256(body) })
      const got = await phone.ask('PUT', '/Sync.json', { body: document })
      tally.judge('push a file', got.status, [200])
    },
  }
}

/** A file as a form, as clients with a history send it. */
export function formPusher({ tally }: World, phone: SoakPhone): Actor {
  return {
    who: 'push a form',
    pause: [500, 3000],
    async step(random) {
      const dataName = randomName(random)
      const boundary = `----soak${random.int(0, 2 ** 31)}`
      const field = (name: string, value: string): string => {
        return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
      }
      const disposition = `form-data; name="data"; filename="${dataName}"`
      const body = Buffer.concat([
        Buffer.from(field('type', 'File') + field('hash', 'AB') + field('text', dataName)),
        Buffer.from(`--${boundary}\r\nContent-Disposition: ${disposition}\r\n\r\n`),
        bytesOf(dataName) ?? Buffer.alloc(0),
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ])
      const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
      const got = await phone.ask('POST', '/api/history', { headers, body })
      tally.judge('push a form', got.status, [200])
    },
  }
}

/** `clipgate watch`, a program of its own, which follows the clipboard for a while. */
export function watcher({ gateway, tally, signal, folder }: World, phone: SoakPhone): Actor {
  const { username: user, password: pwd } = phone
  const link = formatConnectLink({ url: gateway, user, pwd })
  return {
    who: 'watch',
    pause: [100, 5000],
    async step(random) {
      const env = isolatedEnvironment(folder)
      const child = spawn(process.execPath, [PROGRAM, 'watch', '--json'], { env })
      const closed = once(child, 'close')
      child.stdin.end(`${link}\n`)
      child.stderr.setEncoding('utf8').on('data', (text: string) => tally.fault('watch', text))
      createInterface({ input: child.stdout }).on('line', (line) => {
        tally.count('watch', String(JSON.parse(line).type))
      })
      await pause(signal, random.int(1000, 20_000))
      child.kill('SIGTERM')
      const [code] = await closed
      if (code !== 0) tally.fault('watch', `ended with ${code}`)
    },
  }
}

function randomName(random: Random): string {
  return nameOf(numbers++, random.size(1, 8 * MIB), random.pick(['bin', 'png']))
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
