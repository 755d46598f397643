/**
 * What one of each costs the daemon: a device that rests, a poll, an open stream, a push, and each
 * receiver of it. docs/scale.md calculates with these.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RawClient } from '../../test/support/raw-http.ts'
import { addCheapDevices } from '../../test/support/many-devices.ts'
import type { BenchContext } from '../support/bench.ts'
import { download, upload } from '../support/big-body.ts'
import { setUpDaemon, startDaemon, type Daemon } from '../support/daemon.ts'
import { logIn, openStreams, type StreamReader } from '../support/event-streams.ts'
import { findLoadTool } from '../support/load.ts'
import { readCpuSeconds, readMemory, usageMissing } from '../support/process-usage.ts'
import { isQuick } from '../support/rounds.ts'
import { explain, leaveOut, type Row } from '../support/row.ts'

const DEVICES = isQuick ? 50 : 1000
const POLLS = isQuick ? 200 : 5000
const PUSHES = isQuick ? 10 : 300
const LOGINS = isQuick ? 2 : 20
const BODY_MIB = isQuick ? 32 : 1024
const SECONDS = isQuick ? 1 : 5
const WATCHED_SECONDS = isQuick ? 1 : 60

/** Until what a login took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = isQuick ? 1_000 : 20_000

/** Streams are pinged this often here, to be seen beside the rest. */
const HEARTBEAT_SECONDS = 1

const MICROSECONDS = 1e6
const MILLISECONDS = 1e3
const MICROSECONDS_PER_MS = 1e3
const KIB_PER_MIB = 1024

const tool = findLoadTool()

export async function measureUnitCosts({ cleanup, folder }: BenchContext): Promise<readonly Row[]> {
  if (usageMissing !== undefined) return [leaveOut('growth', 'unit costs', usageMissing)]
  const place = join(folder, 'unit-costs')
  const setup = await setUpDaemon(place)
  const devices = await addCheapDevices(join(place, 'data', 'devices.json'), DEVICES)
  const headers = devices.map(({ authorization }) => authorization)
  const heartbeat = ['--heartbeat', `${HEARTBEAT_SECONDS}s`]
  const daemon = await startDaemon(cleanup, setup, ['--headless', ...heartbeat])
  await push(daemon, 0)
  await poll(daemon, 100)
  await sleep(REST_MS)

  const rows: Row[] = []
  const { rss: unknown } = readMemory(daemon.pid)
  await logIn(daemon.port, headers)
  await sleep(REST_MS)
  const { rss: known } = readMemory(daemon.pid)
  const remembered = (KIB_PER_MIB * (known - unknown)) / DEVICES
  rows.push(row('memory of a device that has logged in', 'KiB', remembered))

  const resting = await cpuOf(daemon, () => sleep(1000 * WATCHED_SECONDS))
  const devicesAtRest = `processor at rest, ${DEVICES} devices`
  rows.push(row(devicesAtRest, 'ms/s', (MILLISECONDS * resting) / WATCHED_SECONDS))
  rows.push(...(await measurePolls(daemon)))
  rows.push(row('processor time of a push of a text', 'ms', await costOfPush(daemon, [])))
  rows.push(...(await measureStreams(daemon, headers, cleanup)))
  rows.push(...(await measureBytes(daemon)))

  const admin = await daemon.openAdmin()
  const pairing = await cpuOf(daemon, async () => {
    for (let login = 0; login < LOGINS; login++) {
      const device = { kind: 'phone', label: undefined, username: undefined } as const
      const { id } = await admin.pair({ ...device, password: undefined, url: undefined })
      await admin.revoke(id)
    }
  })
  const argon2 = 'processor time of one Argon2id (pair and revoke)'
  rows.push(row(argon2, 'ms', (MILLISECONDS * pairing) / LOGINS))
  await daemon.stop()
  return rows
}

async function measurePolls(daemon: Daemon): Promise<readonly Row[]> {
  const url = `http://127.0.0.1:${daemon.port}/Sync.json`
  const header = `Authorization: ${daemon.authorization}`
  let rate = 0
  const kept = await cpuOf(daemon, async () => {
    rate = await tool.measure({ url, header, seconds: SECONDS })
  })
  const keptEach = (MICROSECONDS * kept) / (rate * SECONDS)
  const fresh = await cpuOf(daemon, () => poll(daemon, POLLS))
  return [
    row('processor time of a poll, same connection', 'µs', keptEach),
    row('processor time of a poll, connection of its own', 'µs', (MICROSECONDS * fresh) / POLLS),
  ]
}

/** What one takes in memory is B12, on a daemon that has done nothing else. */
async function measureStreams(
  daemon: Daemon,
  headers: readonly string[],
  cleanup: BenchContext['cleanup'],
): Promise<readonly Row[]> {
  const alone = await costOfPush(daemon, [])
  const readers = await openStreams(cleanup, daemon.port, headers)
  await sleep(REST_MS)
  const pinging = await cpuOf(daemon, () => sleep(1000 * WATCHED_SECONDS))
  const pings = (readers.length * WATCHED_SECONDS) / HEARTBEAT_SECONDS
  const shared = await costOfPush(daemon, readers)
  for (const { socket } of readers) socket.destroy()
  const note = `${readers.length} streams`
  const pushEach = (MICROSECONDS_PER_MS * (shared - alone)) / readers.length
  return [
    row('processor time of a ping of a stream', 'µs', (MICROSECONDS * pinging) / pings, note),
    row('processor time of a push for each stream', 'µs', pushEach, note),
  ]
}

async function measureBytes(daemon: Daemon): Promise<readonly Row[]> {
  const target = { ...daemon, path: '/file/unit.bin' }
  const size = BODY_MIB * 2 ** 20
  const sent = await cpuOf(daemon, async () => {
    await upload(target, size)
    await daemon.push('unit.bin')
  })
  const fetched = await cpuOf(daemon, () => download(target, size))
  return [
    row('processor time of a MiB up, hashed twice', 'ms', (MILLISECONDS * sent) / BODY_MIB),
    row('processor time of a MiB down', 'ms', (MILLISECONDS * fetched) / BODY_MIB),
  ]
}

/** Milliseconds of processor time, until all of these readers know. */
async function costOfPush(daemon: Daemon, readers: readonly StreamReader[]): Promise<number> {
  const seconds = await cpuOf(daemon, async () => {
    for (let number = 1; number <= PUSHES; number++) {
      const arrivals = readers.map((reader) => reader.nextUpdate())
      await push(daemon, number)
      await Promise.all(arrivals)
    }
  })
  return (MILLISECONDS * seconds) / PUSHES
}

function push(daemon: Daemon, number: number): Promise<void> {
  return daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: `push ${number}` }))
}

/** As phones poll that keep no connection. */
async function poll({ port, authorization }: Daemon, times: number): Promise<void> {
  const head = `GET /Sync.json HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}`
  for (let time = 0; time < times; time++) {
    const client = await RawClient.connect(port)
    const answer = await client.send(`${head}\r\nConnection: close\r\n\r\n`).read()
    if (answer.status !== 200) throw new Error(`A poll was answered with ${answer.status}`)
    client.close()
  }
}

/** Seconds of processor time that the daemon took meanwhile. */
async function cpuOf({ pid }: Daemon, run: () => Promise<unknown>): Promise<number> {
  const before = readCpuSeconds(pid)
  await run()
  return readCpuSeconds(pid) - before
}

function row(what: string, unit: string, value: number, note?: string): Row {
  return explain('growth', { what, unit, measured: [value], note })
}
