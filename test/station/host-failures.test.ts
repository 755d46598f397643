import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { createGateway } from '../../src/gateway/create-gateway.ts'
import { openStation } from '../../src/station/open-station.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { openEvents } from '../support/event-reader.ts'
import { listen } from '../support/listen.ts'
import { createServer } from 'node:http'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A gateway of a host whose logger, and whose listener of devices, may fail. */
async function openHost(t: TestContext, dataDir: string) {
  const host: { fails: boolean; thrown?: unknown } = { fails: false }
  const logger = new CaptureLogger()
  const fail = (what: string): void => {
    if (host.fails) throw host.thrown ?? new Error(`${what} of the host fails`)
  }
  logger.debug = () => fail('the logger')
  const station = await openStation({ dataDir, logger })
  t.after(() => station.close())
  station.devices.onChange(() => fail('a listener'))
  const url = `http://127.0.0.1:${await listen(t, createServer(createGateway(station, { version: '1' })))}`
  return { host, station, url }
}

describe('a host whose code throws', () => {
  it('has the item that is acknowledged, when its logger fails', async (t) => {
    const dataDir = await temporaryFolder(t)
    const { host, station, url } = await openHost(t, dataDir)
    const { device, password } = await station.devices.add({ kind: 'phone' })
    const phone = createPhone({ username: device.username, password }, url)
    host.fails = true
    const warned = once(process, 'warning')
    await phone.pushFile('File', 'a.bin', Buffer.alloc(5000, 1))
    assert.match(String(await warned), /the logger of the host fails/)
    await phone.fetch('/file/a.bin', { method: 'PUT', body: Buffer.alloc(6000, 2) })
    await station.close()
    const next = await openHost(t, dataDir)
    const again = createPhone({ username: device.username, password }, next.url)
    assert.deepEqual(await again.download(), Buffer.alloc(5000, 1))
  })

  it('has shut a device out, when its listener fails', async (t) => {
    const dataDir = await temporaryFolder(t)
    const { host, station, url } = await openHost(t, dataDir)
    const { device, password } = await station.devices.add({ kind: 'phone' })
    const phone = createPhone({ username: device.username, password }, url)
    const events = await openEvents(t, url, phone.authorization)
    await events.next()
    host.fails = true
    const warned = once(process, 'warning')
    await station.devices.revoke(device.id)
    assert.match(String(await warned), /a listener of the host fails/)
    while ((await events.next()) !== undefined) continue
    assert.equal((await phone.fetch('/')).status, 401)
    await station.close()
    const next = await openHost(t, dataDir)
    assert.deepEqual(next.station.devices.list(), [])
  })
  it('has shut a device out, whatever is thrown', async (t) => {
    const { host, station } = await openHost(t, await temporaryFolder(t))
    for (const thrown of [Object.create(null), Symbol('s'), 'a text', 7]) {
      const { device } = await station.devices.add({ kind: 'phone' })
      Object.assign(host, { fails: true, thrown })
      const warned = once(process, 'warning')
      await station.devices.revoke(device.id)
      assert.match(String(await warned), /a thrown \w+|a text/)
      host.fails = false
    }
    assert.deepEqual(station.devices.list(), [])
  })
})
