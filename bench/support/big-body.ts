/**
 * Sends and fetches bodies of any size over a bare socket, so that the client costs little beside
 * the server. Refuses every answer that is not a success.
 * @module
 */

import { randomFillSync } from 'node:crypto'
import { connect, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext } from 'node:tls'

export interface BodyTarget {
  readonly port: number
  readonly path: string
  readonly authorization?: string | undefined
  /** Whether it speaks TLS. */
  readonly isSecure?: boolean | undefined
}

/** As much as goes into a socket at once; larger pieces wait, smaller ones cost calls. */
const BLOCK_BYTES: number = 256 * 1024

/** The fastest size of a read here; what stays in the cache of a core. */
const READ_BYTES: number = 64 * 1024

// Random: what is sent must not be easier to hash or to store than other files.
const block = randomFillSync(Buffer.allocUnsafeSlow(BLOCK_BYTES))

/** What stands around the bytes of a file. */
interface Frame {
  readonly method: string
  readonly headers: readonly string[]
  readonly before: string
  readonly after: string
}

const BARE: Frame = { method: 'PUT', headers: [], before: '', after: '' }

const BOUNDARY = '----clipgate-bench-0123456789abcdef'

/** Resolves when the whole body was sent and a success was answered. */
export async function upload(target: BodyTarget, size: number): Promise<void> {
  await send(target, size, BARE)
}

/** The same, with the bytes as the part `data` of a form behind its fields. */
export async function uploadForm(
  target: BodyTarget,
  size: number,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const part = (disposition: string, content: string): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}`
  const parts = Object.entries(fields).map(([name, value]) => {
    return part(`name="${name}"`, `${value}\r\n`)
  })
  await send(target, size, {
    method: 'POST',
    headers: [`Content-Type: multipart/form-data; boundary=${BOUNDARY}`],
    before: [...parts, part('name="data"; filename="form.bin"', '')].join(''),
    after: `\r\n--${BOUNDARY}--\r\n`,
  })
}

async function send(target: BodyTarget, size: number, frame: Frame): Promise<void> {
  const { method, headers, before, after } = frame
  const length = Buffer.byteLength(before) + size + Buffer.byteLength(after)
  const socket = open(target)
  const answered = readHead(socket)
  // Awaited below; a refusal may come while the body is still being sent.
  answered.catch(() => undefined)
  try {
    const head = formatHead(method, target, [...headers, `Content-Length: ${length}`])
    await write(socket, Buffer.from(`${head}${before}`))
    for (let sent = 0; sent < size; sent += BLOCK_BYTES) {
      await write(socket, sent + BLOCK_BYTES <= size ? block : block.subarray(0, size - sent))
    }
    if (after !== '') await write(socket, Buffer.from(after))
  } catch (error) {
    if (!socket.destroyed) throw error
  }
  checkStatus(await answered)
  socket.destroy()
}

/**
 * Resolves when `size` bytes of body have come.
 *
 * @returns How many seconds it took until the first of them came.
 */
export function download(target: BodyTarget, size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    let firstByteSeconds = 0
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
    let head = ''
    let isBody = false
    let received = 0

    function take(count: number): boolean {
      if (isBody) received += count
      else received += takeHead(buffer.toString('latin1', 0, count))
      if (received > 0 && firstByteSeconds === 0) {
        firstByteSeconds = (performance.now() - start) / 1000
      }
      if (received < size) return true
      socket.destroy()
      resolve(firstByteSeconds)
      return false
    }

    function takeHead(text: string): number {
      head += text
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return 0
      isBody = true
      try {
        checkStatus(head)
      } catch (error) {
        socket.destroy()
        reject(error)
      }
      return head.length - end - 4
    }

    const socket = open(target, { buffer, callback: take })
    socket.on('error', reject).on('close', () => reject(new Error('The body ended too early')))
    socket.write(formatHead('GET', target))
  })
}

/** Nobody is trusted here, and the authorities that Node knows would be read each time. */
const TRUSTING = createSecureContext({ ca: [] })

/** Connects; what is written before there is a connection waits for it. */
export function open({ port, isSecure = false }: BodyTarget, onread?: OnReadOpts): Socket {
  const options = { port, host: '127.0.0.1', ...(onread === undefined ? {} : { onread }) }
  if (!isSecure) return connect(options).setNoDelay()
  const trust = { secureContext: TRUSTING, rejectUnauthorized: false }
  return connectTls({ ...options, ...trust }).setNoDelay()
}

function formatHead(method: string, target: BodyTarget, headers: readonly string[] = []): string {
  const lines = [`${method} ${target.path} HTTP/1.1`, 'Host: 127.0.0.1']
  if (target.authorization !== undefined) lines.push(`Authorization: ${target.authorization}`)
  return `${[...lines, ...headers].join('\r\n')}\r\n\r\n`
}

function write(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      head += text
      if (head.includes('\r\n\r\n')) resolve(head)
    })
    socket.on('error', reject).on('close', () => reject(new Error('The server hung up')))
  })
}

function checkStatus(head: string): void {
  if (!/^HTTP\/1\.1 2/.test(head)) throw new Error(`The server answered "${head.split('\r\n')[0]}"`)
}
