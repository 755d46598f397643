import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { ControlUnreachableError } from '../../src/control/admin-client.ts'
import type { DaemonProcess } from '../support/daemon-process.ts'
import { sha256 } from '../support/hashes.ts'
import { addCheapDevices, type CheapDevice } from '../support/many-devices.ts'
import { byNight, SEED } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  type Change,
  commit,
  pair,
  postForm,
  putFile,
  putText,
  revoke,
  rotate,
  type Target,
} from './support/changes.ts'
import { assertFit, examine } from './support/fitness.ts'
import { Ledger, settleFiles } from './support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { createRandom } from './support/random.ts'
import { startHeadless } from './support/subject.ts'

/** Times that the daemon is killed somewhere. */
const KILLS = byNight(200, { byDay: 8 })

const random = createRandom(SEED)

/** Sizes of uploads: small ones, and some that take many writes. */
const SIZES = [10, 5000, 300_000, 4_000_000]

const NAMES = ['a', 'b', 'c']

/** Events of the file system that a few changes cause; and those that one of the devices does. */
const MAX_EVENTS = 24
const MAX_DEVICE_EVENTS = 8

/** One round in this many is about a change of the owner, with a phone beside it. */
const OWNER_ROUNDS = 8

/** A data directory that outlives its daemons, and what is known about it. */
interface Subject {
  readonly folder: string
  readonly device: CheapDevice
  readonly ledger: Ledger
  readonly next: () => number
  /** Starts a daemon on it, and checks everything that it has. */
  start(env?: NodeJS.ProcessEnv): Promise<DaemonProcess>
}

async function prepare(t: TestContext): Promise<Subject> {
  const folder = await temporaryFolder(t)
  const options = { folder, args: ['--min-free-bytes', '0'] }
  const first = await startHeadless(t, options)
  const owner = await first.pair('Owner')
  await first.stop()
  const [device] = await addCheapDevices(join(folder, 'data', 'devices.json'), 1)
  assert.ok(device !== undefined, 'a device was added')
  const ledger = new Ledger()
  // Whatever their hashes are.
  for (const { id } of [owner, device]) ledger.device(id).tell(() => true)
  let number = 0
  const subject = {
    folder,
    device,
    ledger,
    next: () => (number += 1),
    start: async (env = {}) => {
      const daemon = await startHeadless(t, { ...options, env })
      await settleFiles(join(folder, 'data'), ledger)
      await checkServed(daemon, subject)
      return daemon
    },
  }
  return subject
}

/** What clients get is what is in the files. */
async function checkServed(daemon: DaemonProcess, { device, ledger }: Subject): Promise<void> {
  assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204)
  const phone = createPhone(device, daemon.ready.gateway)
  const { type, text, dataName } = await phone.document()
  if (type === 'Text') assert.equal(text, ledger.item.known ?? '')
  else assert.equal(sha256(await phone.download()), ledger.item.known, String(dataName))
  assert.equal(daemon.stderr(), '')
}

interface Watched {
  readonly target: Target
  /** Everything that happened since, as a number. */
  onProgress: (kind: 'bytes' | 'event' | 'device' | 'answer', count: number) => void
}

async function aim(subject: Subject, daemon: DaemonProcess): Promise<Watched> {
  const { device, ledger, next } = subject
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  daemon.child.once('exit', () => agent.destroy())
  const watched: Watched = {
    onProgress: () => {},
    target: {
      daemon,
      ledger,
      agent,
      next,
      authorization: device.authorization,
      owner: await ownerOf(daemon),
      onSent: (bytes) => watched.onProgress('bytes', bytes),
    },
  }
  return watched
}

/** Makes changes until the daemon is gone; what it was not asked any more is not begun. */
async function makeChanges(
  { target, onProgress }: Watched,
  changes: readonly Change[],
): Promise<void> {
  const { child } = target.daemon
  for (const change of changes) {
    try {
      await change(target)
    } catch (error) {
      if (child.killed && isCutOff(error)) return
      throw error
    }
    onProgress('answer', 1)
  }
}

/** The other side is gone. */
function isCutOff(error: unknown): boolean {
  if (error instanceof ControlUnreachableError) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ECONNRESET' || error.code === 'EPIPE'
}

/** The changes that a phone makes. */
function randomChange(): Change {
  const [name, size] = [random.pick(NAMES), random.pick(SIZES)]
  return random.pick([putFile(name, size), commit(name, size), putText, postForm(size)])
}

/** The changes that the owner makes; those that mint a password take long. */
function randomOwnerChange(subject: Subject): Change {
  const others = idsOfOthers(subject)
  if (others.length === 0) return pair
  const id = random.pick(others)
  return random.pick([pair, rotate(id), revoke(id)])
}

/** Devices that may change: all but the one that is used. */
function idsOfOthers({ ledger, device }: Subject): readonly string[] {
  return [...ledger.devices]
    .filter(([id, { known }]) => id !== device.id && known !== undefined)
    .map(([id]) => id)
}

it(`a daemon that is killed has what it acknowledged, nothing torn, and no debris (${KILLS} times)`, async (t) => {
  const subject = await prepare(t)
  const data = join(subject.folder, 'data')
  let onEvent = (_name: string | null): void => {}
  const watchers: FSWatcher[] = []
  t.after(() => {
    for (const watcher of watchers) watcher.close()
  })
  for (const folder of ['', 'blobs', 'staging']) {
    watchers.push(watch(join(data, folder), (_event, name) => onEvent(name)))
  }

  const reasons = { bytes: 0, event: 0, device: 0, answer: 0, end: 0 }
  for (let kill = 0; kill < KILLS; kill++) {
    const daemon = await subject.start()
    const exit = once(daemon.child, 'exit')
    const watched = await aim(subject, daemon)
    const isOwnerThere = kill % OWNER_ROUNDS === OWNER_ROUNDS - 1
    const ofPhone = random.pick(['bytes', 'event', 'event', 'answer'] as const)
    const trigger = isOwnerThere ? 'device' : ofPhone
    const most = {
      bytes: random.pick(SIZES),
      event: MAX_EVENTS,
      device: MAX_DEVICE_EVENTS,
      answer: 4,
    }
    let left = random.below(most[trigger])
    watched.onProgress = (kind, count) => {
      if (kind !== trigger || daemon.child.killed) return
      left -= count
      if (left > 0) return
      reasons[kind] += 1
      daemon.child.kill('SIGKILL')
    }
    onEvent = (name) => {
      watched.onProgress(name?.startsWith('devices.json') === true ? 'device' : 'event', 1)
    }
    const changes = Array.from({ length: 4 }, randomChange)
    await Promise.all([
      makeChanges(watched, changes),
      makeChanges(watched, isOwnerThere ? [randomOwnerChange(subject)] : []),
    ])
    if (!daemon.child.killed) reasons.end += 1
    daemon.child.kill('SIGKILL')
    await exit
  }
  const daemon = await subject.start()
  t.diagnostic(`killed after ${JSON.stringify(reasons)}`)
  const patient = { daemon, device: { ...subject.device, url: '', link: '' } }
  await assertFit(patient, await examine(patient))
  assert.equal(await daemon.stop(), 0)
})
