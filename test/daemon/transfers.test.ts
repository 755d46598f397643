import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { runCli } from '../../src/cli/run-cli.ts'
import type { DaemonStatus, TransferStatus } from '../../src/ports/admin.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { openTestShell } from '../support/test-shell.ts'
import { MIB } from '../../src/core/limits.ts'

const BOUNDARY = 'between'

const FORM_START = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="data"; filename="a.bin"\r\n\r\n`

async function setUp(t: TestContext) {
  const daemon = await startDaemonProcess(t, { args: ['--headless'], devices: ['Pixel'] })
  const device = await daemon.pair('Pixel')
  const phone = createPhone(device, daemon.ready.gateway)
  const token = await readFile(join(daemon.folder, 'data', 'control.token'), 'utf8')

  /** The transfers, as soon as they are so. */
  async function until(
    fits: (transfers: readonly TransferStatus[]) => boolean,
  ): Promise<readonly TransferStatus[]> {
    for (;;) {
      const headers = { Authorization: `Bearer ${token.trim()}` }
      const answer = await fetch(`${daemon.ready.control}/status`, { headers })
      const { transfers } = (await answer.json()) as Pick<DaemonStatus, 'transfers'>
      if (fits(transfers)) return transfers
    }
  }

  /** A request whose body the test sends. */
  function begin(
    method: string,
    path: string,
    headers: Readonly<Record<string, string | number>>,
  ): ClientRequest {
    const all = { authorization: phone.authorization, ...headers }
    const url = new URL(path, daemon.ready.gateway)
    const outgoing = httpRequest(url, { method, headers: all, agent: false })
    outgoing.on('error', () => undefined)
    t.after(() => outgoing.destroy())
    return outgoing
  }
  return { daemon, device, phone, until, begin }
}

/** A terminal, and what stands on it. */
class Terminal extends Writable {
  readonly isTTY = true
  readonly columns = 100
  text = ''
  readonly #written = new EventEmitter()

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    this.#written.emit('text')
    done()
  }

  /** Resolves once that stands there. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) await once(this.#written, 'text')
  }
}

const isOver = (transfers: readonly TransferStatus[]): boolean => transfers.length === 0

describe('the files that are on their way', () => {
  it('are told by status while they come, without their names', async (t) => {
    const { daemon, until, begin } = await setUp(t)
    const upload = begin('PUT', '/file/secret-name.bin', { 'content-length': 16 * MIB })
    upload.write(Buffer.alloc(4 * MIB))
    const told = await until(([first]) => first?.bytes === 4 * MIB)
    const transfer = { direction: 'in', device: 'Pixel', bytes: 4 * MIB, total: 16 * MIB }
    assert.deepEqual(told, [transfer])
    const { stdout } = await daemon.run('status')
    assert.match(stdout, /^Transfer {3}from Pixel, 4\.0 MiB of 16 MiB$/m)
    assert.doesNotMatch(stdout, /secret/)
    upload.end(Buffer.alloc(12 * MIB))
    const [response]: IncomingMessage[] = await once(upload, 'response')
    assert.equal(response?.statusCode, 200)
    await until(isOver)
    assert.doesNotMatch((await daemon.run('status')).stdout, /Transfer/)
  })

  it('are told whatever way they come, and when their phone goes away', async (t) => {
    const { phone, until, begin } = await setUp(t)
    const created = await phone.fetch('/file/film.mp4', {
      method: 'PUT',
      headers: { 'Upload-Complete': '?0', 'Upload-Length': String(16 * MIB) },
    })
    const place = new URL(created.headers.get('location') ?? '', created.url).pathname
    const piece = { 'content-type': 'application/partial-upload', 'upload-offset': 0 }
    const patch = begin('PATCH', place, { ...piece, 'upload-complete': '?1' })
    patch.write(Buffer.alloc(9 * MIB))
    const [patched] = await until(([first]) => first?.bytes === 9 * MIB)
    assert.equal(patched?.total, 16 * MIB)
    patch.destroy()
    await until(isOver)

    const type = `multipart/form-data; boundary=${BOUNDARY}`
    const form = begin('POST', '/api/history', { 'content-type': type })
    form.write(Buffer.concat([Buffer.from(FORM_START), Buffer.alloc(10 * MIB)]))
    const [posted] = await until(([first]) => (first?.bytes ?? 0) > 9 * MIB)
    assert.deepEqual([posted?.direction, posted?.total], ['in', null])
    form.destroy()
    await until(isOver)
  })

  it('are told while they go, until the device is removed', async (t) => {
    const { daemon, device, phone, until, begin } = await setUp(t)
    await phone.pushFile('File', 'film.mp4', Buffer.alloc(64 * MIB))
    const download = begin('GET', '/file/film.mp4', { range: `bytes=${MIB}-` }).end()
    const [response]: IncomingMessage[] = await once(download, 'response')
    // It is not read: the buffers of the network are full long before its end.
    assert.equal(response?.statusCode, 206)
    const [told] = await until(([first]) => (first?.bytes ?? 0) > MIB)
    assert.deepEqual([told?.direction, told?.device, told?.total], ['out', 'Pixel', 64 * MIB])
    await daemon.run('revoke', device.id)
    await until(isOver)
  })

  it('are told by watch on a terminal, in a line that goes away', async (t) => {
    const { daemon, begin } = await setUp(t)
    const { shell } = openTestShell({ cwd: daemon.folder })
    const [stdout, stderr] = [new Terminal(), new Terminal()]
    const args = ['watch', '--data-dir', join(daemon.folder, 'data')]
    const code = runCli(args, { ...shell, stdout, stderr })
    const upload = begin('PUT', '/file/secret-name.bin', { 'content-length': 16 * MIB })
    upload.write(Buffer.alloc(9 * MIB))
    await stderr.until(/\r\x1b\[Kfrom Pixel, 9\.0 MiB of 16 MiB$/)
    upload.end(Buffer.alloc(7 * MIB))
    await stderr.until(/16 MiB\r\x1b\[K$/)
    assert.doesNotMatch(stderr.text, /secret/)
    stdout.destroy()
    assert.equal(await code, 0)
  })

  it('are not told where they are there at once', async (t) => {
    const { phone, until, begin } = await setUp(t)
    const short = begin('PUT', '/file/a.bin', { 'content-length': 8 * MIB - 1 })
    short.write(Buffer.alloc(8 * MIB - 2))
    const long = begin('PUT', '/file/b.bin', { 'content-length': 8 * MIB })
    long.write(Buffer.alloc(8 * MIB - 1))
    const told = await until(([first]) => first?.bytes === 8 * MIB - 1)
    assert.equal(told.length, 1)
    assert.equal((await phone.fetch('/Sync.json')).status, 200)
  })
})
