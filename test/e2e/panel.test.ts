import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { startDaemonProcess, temporaryFolder, type DaemonProcess } from '../support/daemon-process.ts'
import { openEvents, readFrames } from '../support/event-reader.ts'
import { createPhone } from '../support/phone.ts'

/** Enters as a browser does. */
async function enter(daemon: DaemonProcess): Promise<string> {
  const { stdout } = await daemon.run('panel', '--json')
  const response = await fetch(JSON.parse(stdout).url)
  assert.equal(response.status, 200)
  return (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
}

interface State {
  readonly item: { readonly type: string; readonly dataName: string } | null
  readonly devices: readonly { readonly label: string; readonly lastSeenAt: string | null; readonly streams: number }[]
  readonly status: { readonly storage: { readonly stagedUploads: number } }
}

async function follow(t: TestContext, control: string, cookie: string) {
  const outgoing = httpRequest(`${control}/events`, { headers: { cookie }, agent: false }).end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  assert.ok(response !== undefined, 'an answer')
  t.after(() => response.destroy())
  const frames = readFrames(response)
  /** The next state that fits; `undefined` when the stream has ended. */
  const until = async (fits: (state: State) => boolean): Promise<State | undefined> => {
    for await (const frame of { [Symbol.asyncIterator]: () => ({ next: () => frames.next() }) }) {
      if (!('event' in frame)) continue
      const state = frame.data as unknown as State
      if (fits(state)) return state
    }
    return undefined
  }
  return { until }
}

describe('the panel of a daemon', () => {
  it('shows what devices do, as they do it, and says goodbye when the daemon stops', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ['--headless'] })
    const { control, gateway } = daemon.ready
    const { until } = await follow(t, control, await enter(daemon))
    assert.ok(await until(({ devices }) => devices.length === 0), 'nobody yet')

    const device = await daemon.pair('My phone')
    const paired = await until(({ devices }) => devices.length === 1)
    assert.deepEqual([paired?.devices[0]?.label, paired?.devices[0]?.lastSeenAt], ['My phone', null])

    const phone = createPhone(device, gateway)
    await phone.document()
    assert.ok(await until(({ devices }) => devices[0]?.lastSeenAt !== null), 'seen')

    const stream = await openEvents(t, gateway, phone.authorization)
    assert.ok(await until(({ devices }) => devices[0]?.streams === 1), 'a stream')
    stream.close()
    assert.ok(await until(({ devices }) => devices[0]?.streams === 0), 'no stream')

    await phone.fetch('/file/a.bin', { method: 'PUT', body: 'bytes' })
    assert.ok(await until(({ status }) => status.storage.stagedUploads === 1), 'staged')
    await phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
    assert.ok(await until(({ item }) => item?.dataName === 'a.bin'), 'pushed')
    await daemon.run('revoke', device.id)
    assert.ok(await until(({ devices }) => devices.length === 0), 'revoked')

    // Nobody waits for a stream of the panel, which ends properly.
    const ended = until(() => false)
    assert.equal(await daemon.stop(), 0)
    assert.equal(await ended, undefined)
  })

  it('lets a browser in again after the daemon was started again', async (t) => {
    const folder = await temporaryFolder(t)
    const first = await startDaemonProcess(t, { args: ['--headless'], folder })
    const cookie = await enter(first)
    const { port } = new URL(first.ready.control)
    await first.stop()
    const env = { CLIPGATE_CONTROL: `127.0.0.1:${port}` }
    const second = await startDaemonProcess(t, { args: ['--headless'], folder, env })
    const response = await fetch(`${second.ready.control}/state`, { headers: { cookie } })
    assert.equal(response.status, 200)
    assert.doesNotMatch(first.stderr() + second.stderr(), new RegExp(cookie.split('=')[1] ?? '^$'))
  })
})
