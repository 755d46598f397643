import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openStation, type Station } from '../../src/station/open-station.ts'
import type { AppliedItem } from '../../src/ports/inbound-pipeline.ts'
import { streamOf } from '../support/byte-streams.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { stageUpload } from '../support/staging-contract.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** More than a Group may have, of which the disk has nothing. */
const SPARSE_BYTES = 2 ** 36

/** Three devices; the first one makes a Group of more than there is time to read, by now. */
async function setUp(t: TestContext) {
  const dataDir = await temporaryFolder(t)
  const station = await openStation({ dataDir, logger: new CaptureLogger() })
  t.after(() => station.close())
  const [blobs, records] = [join(dataDir, 'blobs'), join(dataDir, 'staging')]
  const films = [await stageFilm(station, blobs), await stageFilm(station, blobs)] as const
  const first = start(await stageFilm(station, blobs))
  while (!(await openFiles()).includes(first.path)) await setImmediate()
  const others = [start(films[0]), start(films[1])] as const
  return { station, first, others, left: () => Promise.all([readdir(blobs), readdir(records)]) }
}

/** Makes the Group of a device, which is to be refused. */
function start({ id, path, make }: Awaited<ReturnType<typeof stageFilm>>) {
  return { id, path, refused: assert.rejects(make(), { code: 'CREDENTIAL_GONE' }) }
}

/** A new device that has sent a batch of one file. */
async function stageFilm({ devices, staging, inbound }: Station, blobs: string) {
  const { device } = await devices.add({ kind: 'phone' })
  const { id, passwordHash } = device
  const batch = randomBytes(16).toString('hex')
  const before = await readdir(blobs)
  const sender = { deviceId: id, passwordHash, declaredSize: undefined }
  const name = { dataName: 'film', mediaType: 'video/mp4', member: { batch, number: 1 } }
  await stageUpload(staging, { ...sender, ...name }, streamOf('x'))
  const added = (await readdir(blobs)).filter((other) => !before.includes(other))
  const path = join(blobs, ...added)
  await truncate(path, SPARSE_BYTES)
  const make = (): Promise<AppliedItem> => {
    return inbound.apply({
      ...{ origin: { kind: 'device', deviceId: id, passwordHash }, type: 'Group', text: '' },
      ...{ dataName: '', hash: '', bytes: { kind: 'batch', batch, numbers: [1] } },
    })
  }
  return { id, path, make }
}

/** What this process, with its workers, has open. */
async function openFiles(): Promise<readonly string[]> {
  const names = await readdir('/proc/self/fd')
  // Those that were closed meanwhile are gone.
  return Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
}

const onLinux = { skip: process.platform === 'linux' ? false : 'skipped: needs Linux' }

it('a device that makes a large Group is shut out before that is read', onLinux, async (t) => {
  const { station, first, others, left } = await setUp(t)
  const { devices, inbound, latest } = station
  const [second, third] = others
  // It waits for its turn behind the first one.
  await devices.revoke(second.id)
  await second.refused
  // The first one is being made still. Its file is opened twice: to be looked at, then to be read.
  while (!(await openFiles()).includes(first.path)) await setImmediate()
  const { device } = await devices.rotate(first.id)
  await first.refused
  await devices.revoke(third.id)
  await third.refused
  assert.deepEqual(await left(), [[], []])
  assert.ok(!(await openFiles()).some((path) => [first.path, third.path].includes(path)))

  const { id: deviceId, passwordHash } = device
  const origin = { kind: 'device', deviceId, passwordHash } as const
  await inbound.apply({
    ...{ origin, type: 'Text', text: 'with the new password' },
    ...{ dataName: '', hash: '', bytes: { kind: 'none' } },
  })
  assert.equal(latest.current?.item.text, 'with the new password')
})
