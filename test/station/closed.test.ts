import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type ClientRequest } from 'node:http'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createGateway } from '../../src/gateway/create-gateway.ts'
import { openStation } from '../../src/station/open-station.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { listen } from '../support/listen.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A gateway over a folder, as a host opens it, with a phone. */
async function open(t: TestContext, dataDir: string) {
  const logger = new CaptureLogger()
  const station = await openStation({ dataDir, logger })
  t.after(() => station.close())
  const gateway = createGateway(station, { version: '1' })
  const server = createServer(gateway).on('checkContinue', gateway)
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const { device, password } = await station.devices.add({ kind: 'phone' })
  const phone = createPhone({ username: device.username, password }, url)
  return { station, url, phone, logger }
}

type Opened = Awaited<ReturnType<typeof open>>

/** Begins to push a body; resolves when the gateway has asked for its rest. */
async function beginPut({ url, phone }: Opened, path: string, length: number) {
  const headers = {
    authorization: phone.authorization,
    'content-length': length,
    expect: '100-continue',
  }
  const outgoing = request(new URL(path, url), { method: 'PUT', headers, agent: false })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  return outgoing
}

async function statusOf(outgoing: ClientRequest): Promise<number | undefined> {
  const [response] = await once(outgoing, 'response')
  response.resume()
  return response.statusCode
}

function errorsOf({ logger }: Pick<Opened, 'logger'>): readonly unknown[] {
  return logger.lines.filter(({ level }) => level === 'error')
}

describe('a station that was closed', () => {
  it('changes nothing of what the next one has, and says that it goes', async (t) => {
    const dataDir = await temporaryFolder(t)
    const old = await open(t, dataDir)
    await old.phone.pushText('before')
    const late = JSON.stringify({ type: 'Text', text: 'late' })
    const [item, file] = [
      await beginPut(old, '/Sync.json', late.length),
      await beginPut(old, '/file/late.bin', 200_000),
    ]
    const fileStatus = statusOf(file)
    file.write(Buffer.alloc(100_000))
    const blobs = join(dataDir, 'blobs')
    while ((await readdir(blobs)).length === 0) await setImmediate()
    await old.station.close()
    assert.equal(await fileStatus, 503)
    assert.deepEqual(await readdir(blobs), [])

    const next = await open(t, dataDir)
    await next.phone.pushText('acknowledged')
    const itemStatus = statusOf(item)
    item.end(late)
    assert.equal(await itemStatus, 503)
    for (const path of ['/Sync.json', '/file/another.bin']) {
      assert.equal((await old.phone.fetch(path, { method: 'PUT', body: late })).status, 503)
    }
    await assert.rejects(old.station.devices.add({ kind: 'phone' }), { code: 'STATION_CLOSED' })
    await next.station.close()
    const last = await open(t, dataDir)
    assert.equal(last.station.latest.current?.item.text, 'acknowledged')
    assert.deepEqual(errorsOf(old), [])
  })

  it('says so to those who log in meanwhile', async (t) => {
    const { station, url, logger, phone } = await open(t, await temporaryFolder(t))
    const logins = Array.from({ length: 4 }, (_, index) => {
      const authorization = `Basic ${btoa(`phone_${index}:wrong`)}`
      return fetch(new URL('/', url), { headers: { authorization } })
    })
    const own = phone.fetch('/')
    await station.close()
    const statuses = (await Promise.all([...logins, own])).map(({ status }) => status)
    assert.ok(statuses.includes(503))
    assert.ok(!statuses.includes(500), String(statuses))
    assert.deepEqual(errorsOf({ logger }), [])
  })
})
