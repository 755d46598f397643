import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { it, type TestContext } from 'node:test'
import { openStation } from '../../src/station/open-station.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Pairing } from '../../src/ports/admin.ts'
import type { Blob } from '../../src/ports/blob.ts'
import { readBlob } from '../support/byte-streams.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import {
  type DaemonOptions,
  type DaemonProcess,
  type PairedDevice,
  startDaemonProcess,
} from '../support/daemon-process.ts'
import { sha256 } from '../support/hashes.ts'
import { byNight, isNight, SEED } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { NEW_PHONE, ownerOf } from '../support/owner.ts'
import {
  type DiskState,
  FATES,
  type Loss,
  readChanges,
  RecordedDisk,
  writeState,
} from './support/recorded-disk.ts'
import { main, stage, startHeadless } from './support/subject.ts'

/** Random losses behind each change of a file, besides those that are looked at anyway. */
const RANDOM_LOSSES = byNight(30, { byDay: 0 })

/** Rounds of the scenario. */
const ROUNDS = byNight(3, { byDay: 1 })

/** On each such state a whole daemon is started first; on the others, what it keeps is opened. */
const START_EVERY = 100

/** States that are looked at side by side: each waits for the disk most of the time. */
const AT_ONCE = 4

const RECORDER = fileURLToPath(new URL('./support/record-files.js', import.meta.url))

/** What a daemon keeps, as its users know it. */
interface Kept {
  /** Password hashes by id. */
  readonly devices: Readonly<Record<string, string>>
  readonly text: string | undefined
  /** SHA-256 of the latest bytes. */
  readonly bytes: string | undefined
  readonly peers: readonly string[]
}

interface Step {
  readonly name: string
  /** Changes of files that there were when it was begun, and when it was acknowledged. */
  readonly from: number
  readonly acknowledged: number
  readonly kept: Kept
  /** An upload that waits after it, by name and SHA-256; without one, it waits no longer. */
  readonly staged: readonly [name: string, content: string | undefined] | undefined
}

/** A daemon whose changes of files are written down, and what it was asked. */
class Recording {
  readonly root: string
  readonly steps: Step[] = []
  /** SHA-256 of everything that was ever staged, by name. */
  readonly staged = new Map<string, Set<string>>()
  /** All bytes of each upload that comes in several requests, by name. */
  readonly begun = new Map<string, Buffer>()
  phone: Pairing | undefined
  readonly #t: TestContext
  readonly #log: string
  #kept: Kept = { devices: {}, text: undefined, bytes: undefined, peers: [] }
  #number = 0

  constructor(t: TestContext, root: string, log: string) {
    this.#t = t
    this.root = root
    this.#log = log
  }

  start(): Promise<DaemonProcess> {
    return startHeadless(this.#t, this.#options(['--min-free-bytes', '0']))
  }

  /** Starts a desktop whose clipboard cannot be used yet: files are saved all the same. */
  startDesktop(): Promise<DaemonProcess> {
    const args = ['--min-free-bytes', '0', '--clipboard', 'x11']
    return startDaemonProcess(this.#t, { main, ...this.#options(args) })
  }

  async disk(): Promise<RecordedDisk> {
    return new RecordedDisk(this.root, await readChanges(this.#log))
  }

  /** Asks the daemon for something, and notes when it had acknowledged it. */
  async step(
    name: string,
    ask: () => Promise<Partial<Kept> | undefined>,
    staged?: Step['staged'],
  ): Promise<void> {
    const from = await this.#count()
    const kept = await ask()
    const changes = await readChanges(this.#log)
    const acknowledged = changes.findLastIndex(({ kind }) => kind === 'answer')
    assert.ok(acknowledged >= from, `${name} was answered`)
    this.#kept = { ...this.#kept, ...kept }
    this.steps.push({ name, from, acknowledged, kept: this.#kept, staged })
  }

  /** Content that comes once. */
  makeBytes(size: number): Buffer {
    this.#number += 1
    return createHash('shake256', { outputLength: size }).update(String(this.#number)).digest()
  }

  async devices(): Promise<Readonly<Record<string, string>>> {
    const { devices } = JSON.parse(await readFile(join(this.root, 'data/devices.json'), 'utf8'))
    return Object.fromEntries(
      devices.map(({ id, passwordHash }: Record<string, string>) => [id, passwordHash]),
    )
  }

  #options(args: readonly string[]): DaemonOptions {
    const env = {
      NODE_OPTIONS: `--import=${pathToFileURL(RECORDER)}`,
      CLIPGATE_TEST_FILE_LOG: this.#log,
      CLIPGATE_TEST_FILE_ROOT: this.root,
    }
    return { folder: this.root, args, env }
  }

  async #count(): Promise<number> {
    return readChanges(this.#log).then(
      ({ length }) => length,
      () => 0,
    )
  }
}

/** Everything that changes what is kept, one after the other. */
async function playRound(recording: Recording, daemon: DaemonProcess, peer: PairedDevice) {
  const owner = await ownerOf(daemon)
  if (recording.phone === undefined) {
    await recording.step('pairing the phone', async () => {
      recording.phone = await owner.pair(NEW_PHONE)
      return { devices: await recording.devices() }
    })
  }
  let other: Pairing | undefined
  await recording.step('pairing another one', async () => {
    other = await owner.pair(NEW_PHONE)
    return { devices: await recording.devices() }
  })
  assert.ok(recording.phone !== undefined && other !== undefined)
  const { id } = other
  const phone = createPhone(recording.phone, daemon.ready.gateway)

  const upload = async (name: string, size: number): Promise<Buffer> => {
    const bytes = recording.makeBytes(size)
    recording.staged.set(name, (recording.staged.get(name) ?? new Set()).add(sha256(bytes)))
    const put = async () => void (await stage(phone, name, bytes))
    await recording.step(`staging ${name}`, put, [name, sha256(bytes)])
    return bytes
  }
  /** Sends a part of an upload, and says where the next one goes. */
  const sendPart = async (
    name: string,
    [start, end]: readonly [number, number],
    { path = '', isLast = false } = {},
  ): Promise<string> => {
    const bytes = recording.begun.get(name) ?? Buffer.alloc(0)
    const isFirst = path === ''
    const fields = {
      'upload-complete': isLast ? '?1' : '?0',
      ...(isFirst
        ? {}
        : { 'upload-offset': String(start), 'content-type': 'application/partial-upload' }),
    }
    let location = path
    await recording.step(
      `sending a part of ${name}`,
      async () => {
        const { status, headers } = await phone.fetch(isFirst ? `/file/${name}` : path, {
          method: isFirst ? 'PUT' : 'PATCH',
          headers: fields,
          body: bytes.subarray(start, end),
        })
        assert.ok(status < 300, `${name} is ${status}`)
        location = headers.get('location') ?? path
        return undefined
      },
      isLast ? [name, sha256(bytes)] : undefined,
    )
    return location
  }
  const begin = (name: string, size: number): void => {
    const bytes = recording.makeBytes(size)
    recording.begun.set(name, bytes)
    recording.staged.set(name, new Set([sha256(bytes)]))
  }
  const push = async (type: 'File' | 'Image', dataName: string, size: number): Promise<void> => {
    const bytes = await upload(dataName, size)
    await recording.step(`pushing ${dataName}`, async () => {
      const body = JSON.stringify({ type, dataName, hasData: true })
      assert.equal((await phone.fetch('/Sync.json', { method: 'PUT', body })).status, 200)
      return { text: undefined, bytes: sha256(bytes) }
    }, [dataName, undefined])
  }
  const pushText = (text: string) =>
    recording.step('pushing a text', async () => {
      await phone.pushText(text)
      return { text }
    })

  await pushText(`one ${id}`)
  await push('Image', 'a', 300_000)
  await upload('b', 10)
  await upload('b', 1_300_000)
  await push('File', 'c', 10)
  await pushText(`two ${id}`)
  await recording.step('posting a form', async () => {
    const bytes = recording.makeBytes(1000)
    const form = new FormData()
    for (const [name, value] of [
      ['type', 'File'],
      ['hash', sha256(bytes)],
    ] as const)
      form.set(name, value)
    form.set('data', new Blob([bytes]), 'form')
    assert.equal((await phone.fetch('/api/history', { method: 'POST', body: form })).status, 200)
    return { text: undefined, bytes: sha256(bytes) }
  })
  begin(`parts ${id}`, 700_000)
  const parts = await sendPart(`parts ${id}`, [0, 200_000])
  await sendPart(`parts ${id}`, [200_000, 400_000], { path: parts })
  await sendPart(`parts ${id}`, [400_000, 700_000], { path: parts, isLast: true })
  await push('File', 'b', 5000)
  await recording.step('rotating', async () => {
    await owner.rotate(id)
    return { devices: await recording.devices() }
  })
  let member: Pairing | undefined
  await recording.step('pairing a member', async () => {
    member = await owner.pair({ ...NEW_PHONE, kind: 'peer' })
    return { devices: await recording.devices() }
  })
  assert.ok(member !== undefined)
  const { id: memberId } = member
  const asMember = createPhone(member, daemon.ready.gateway)
  await recording.step('being told what time it is in the group', async () => {
    const ahead = String(Date.now() + 3_600_000 * recording.steps.length)
    const headers = { 'x-clipgate-time': ahead }
    assert.equal((await asMember.fetch('/Sync.json', { headers })).status, 200)
    return undefined
  })
  await recording.step('revoking the member', async () => {
    await owner.revoke(memberId)
    return { devices: await recording.devices() }
  })
  await recording.step('joining', async () => {
    await owner.join({ link: peer.link, name: 'other', tlsFingerprint: undefined })
    return { peers: ['other'] }
  })
  await recording.step('leaving', async () => {
    await owner.leave('other')
    return { peers: [] }
  })
  await recording.step('revoking', async () => {
    await owner.revoke(id)
    return { devices: await recording.devices() }
  })
  await upload('d', 600_000)
  // It is not complete when the daemon is stopped.
  begin(`begun ${id}`, 500_000)
  const begun = await sendPart(`begun ${id}`, [0, 100_000])
  await sendPart(`begun ${id}`, [100_000, 400_000], { path: begun })
}

async function record(t: TestContext): Promise<Recording> {
  const root = await realpath(await temporaryFolder(t))
  const log = join(await temporaryFolder(t), 'changes')
  const recording = new Recording(t, root, log)
  const other = await startHeadless(t)
  const { stdout } = await other.run('pair', '--json', '--kind', 'peer')
  const peer: PairedDevice = JSON.parse(stdout)
  for (let round = 0; round < ROUNDS; round++) {
    // Whoever stops in good order saves what was only noted.
    const daemon = await recording.start()
    await playRound(recording, daemon, peer)
    assert.equal(await daemon.stop(), 0, daemon.stderr())
  }
  const last = await recording.start()
  const { phone } = recording
  assert.ok(phone !== undefined)
  await recording.step('pushing a text', async () => {
    await createPhone(phone, last.ready.gateway).pushText('last')
    return { text: 'last' }
  })
  await last.kill()
  await other.stop()
  return recording
}

const NO_LOSS: Loss = { name: 'nothing lost', keepsName: () => true, fateOf: () => 'all' }

/** What a power cut may do: nothing, all, or parts of what was not synced get to the disk. */
function* lossesOf(root: string, cut: number): Generator<Loss> {
  const data = join(root, 'data')
  for (const [index, fate] of FATES.entries()) {
    // By day, the fates of bytes take turns, and the folders.
    if (!isNight && index !== cut % FATES.length) continue
    yield { name: `all names, ${fate}`, keepsName: () => true, fateOf: () => fate }
    const folders = [data, join(data, 'blobs'), join(data, 'staging')]
    for (const folder of isNight ? folders : folders.slice(cut % 3).slice(0, 1)) {
      const keepsName = (path: string): boolean => join(path, '..') === folder
      yield { name: `names in ${folder}, ${fate}`, keepsName, fateOf: () => fate }
    }
  }
  for (const fate of ['none', 'all'] as const) {
    yield { name: `no names, ${fate}`, keepsName: () => false, fateOf: () => fate }
  }
}

function randomLoss(seed: string): Loss {
  const draw = (what: string): number => {
    return createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE(0)
  }
  return {
    name: `random ${seed}`,
    keepsName: (_, index) => draw(`name ${index}`) % 2 === 0,
    fateOf: (file) => FATES[draw(`file ${file}`) % FATES.length] ?? 'all',
  }
}

interface Case {
  readonly name: string
  readonly state: DiskState
  /** One of them has to be found. */
  readonly allowed: readonly Kept[]
  /** What may wait under each name; only when nothing was lost, as uploads may be. */
  readonly waiting: Readonly<Record<string, readonly (string | undefined)[]>>
}

/** Each state once, in the order of the cuts; also when it may be found at several of them. */
async function* casesOf({ root, steps }: Recording, disk: RecordedDisk): AsyncGenerator<Case> {
  const seen = new Set<string>()
  const boundaries = new Set(disk.boundaries)
  for (let cut = 0; cut <= disk.changes.length; cut++) {
    const isLookedAt = boundaries.has(cut) || RANDOM_LOSSES > 0
    // A kill of the daemon alone loses nothing, wherever it comes.
    const losses = isLookedAt ? [NO_LOSS, ...lossesOf(root, cut)] : [NO_LOSS]
    for (let n = 0; n < RANDOM_LOSSES; n++) losses.push(randomLoss(`${SEED} ${cut} ${n}`))
    const allowed = allowedAfter(cut, steps)
    for (const loss of losses) {
      const state = disk.stateAfter(cut, loss)
      const waiting = loss === NO_LOSS ? waitingAfter(cut, steps) : {}
      const key = keyOf(state, JSON.stringify([allowed, waiting]))
      if (seen.has(key)) continue
      seen.add(key)
      const name = `after change ${cut} of ${disk.changes.length}: ${loss.name}`
      yield { name, state: await asAfterBoot(state), allowed, waiting }
    }
  }
}

function keyOf({ folders, files }: DiskState, allowed: string): string {
  const hash = createHash('sha1')
    .update(allowed)
    .update([...folders].sort().join('\n'))
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`\n${path}\n${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}

/** What may be found: what was acknowledged, or what was being asked for. */
function allowedAfter(cut: number, steps: readonly Step[]): readonly Kept[] {
  const empty: Kept = { devices: {}, text: undefined, bytes: undefined, peers: [] }
  const done = steps.filter(({ acknowledged }) => acknowledged < cut)
  const begun = steps.filter(({ from, acknowledged }) => acknowledged >= cut && from < cut)
  return [done.at(-1)?.kept ?? empty, ...begun.slice(0, 1).map(({ kept }) => kept)]
}

/** The same for uploads, of which each may also wait as the step that was begun leaves it. */
function waitingAfter(cut: number, steps: readonly Step[]): Case['waiting'] {
  const waiting: Record<string, readonly (string | undefined)[]> = {}
  for (const { from, acknowledged, staged } of steps) {
    if (staged === undefined || from >= cut) continue
    const [name, content] = staged
    const earlier = waiting[name] ?? [undefined]
    waiting[name] = acknowledged < cut ? [content] : [...earlier, content]
  }
  return waiting
}

/** After a power cut the machine has booted again. */
async function asAfterBoot({ folders, files }: DiskState): Promise<DiskState> {
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim()
  const other = bootId.replaceAll(/[0-9a-f]/g, (digit) => (digit === '0' ? '1' : '0'))
  const moved = [...files].map(([path, bytes]): [string, Buffer] => {
    if (/\/blobs\//.test(path)) return [path, bytes]
    const text = bytes.toString('latin1').replaceAll(bootId, other)
    return [path, Buffer.from(text.replace(/"bootTime":\d+/, '"bootTime":1'), 'latin1')]
  })
  return { folders, files: new Map(moved) }
}

const KNOWN_NAMES = [
  'blobs',
  'computer.id',
  'control.token',
  'devices.json',
  'item.json',
  'lock',
  'member.json',
  'peers.json',
  'sightings.json',
  'staging',
]

/** Opens what is there as a daemon does, and compares it with what may be there. */
async function check(
  data: string,
  { allowed, waiting: expected }: Case,
  recording: Recording,
): Promise<void> {
  const logger = new CaptureLogger()
  const clipboard = await openStation({
    dataDir: data,
    clock: systemClock,
    logger,
    limits: { minFreeBytes: 0 },
    maxMetadataBytes: 2 ** 24,
    verifyWorkers: 1,
    verifyQueue: 1,
  })
  try {
    const { latest, devices, peerStore, staging } = clipboard
    const hashes = devices.list().map(({ id, passwordHash = '' }) => [id, passwordHash])
    const { current, binary } = latest
    const found: Kept = {
      devices: Object.fromEntries(hashes),
      text: current?.item.type === 'Text' ? current.item.text : undefined,
      bytes: binary?.blob === undefined ? undefined : await digest(binary.blob),
      peers: peerStore.peers.map(({ name }) => name),
    }
    const isAllowed = allowed.some((kept) => JSON.stringify(kept) === JSON.stringify(found))
    if (!isAllowed) assert.deepEqual(found, allowed[0])

    let waiting = 0
    const phone = recording.phone?.id ?? ''
    for (const [name, contents] of recording.staged) {
      const upload = staging.take(phone, name)
      const content = upload === undefined ? undefined : await digest(upload.blob)
      const possible = expected[name] ?? [content]
      assert.ok(possible.includes(content), `${name} waits`)
      // What waits no longer, since a push of it has begun, is the item.
      const isPushed = possible.length > 1 && possible.at(-1) === undefined
      if (isPushed && content === undefined) assert.equal(found.bytes, possible[0], name)
      if (content === undefined) continue
      waiting += 1
      assert.ok(contents.has(content), `${name} is torn`)
    }
    const inItem = binary === undefined ? 0 : 1
    const kept = await checkBegun(data, recording)
    assert.equal((await readdir(join(data, 'blobs'))).length, waiting + kept + inItem, 'blobs')
    assert.equal((await readdir(join(data, 'staging'))).length, waiting + kept, 'records')
    const left = (await readdir(data)).filter((name) => !KNOWN_NAMES.includes(name))
    assert.deepEqual(left, [], 'debris')
  } finally {
    await clipboard.close()
  }
}

/** The first bytes of an unfinished upload are there. @returns How many such uploads there are. */
async function checkBegun(data: string, { begun }: Recording): Promise<number> {
  const records = await readdir(join(data, 'staging'))
  const partial = records.filter((name) => name.endsWith('.partial'))
  for (const name of partial) {
    const { dataName } = JSON.parse(await readFile(join(data, 'staging', name), 'utf8'))
    const bytes = await readFile(join(data, 'blobs', name.replace('.partial', '')))
    const sent = begun.get(dataName) ?? Buffer.alloc(0)
    assert.ok(sent.subarray(0, bytes.length).equals(bytes), `${dataName} is torn`)
    assert.ok(bytes.length <= sent.length, `${dataName} is too long`)
  }
  return partial.length
}

async function digest(blob: Blob): Promise<string> {
  return sha256(await readBlob(blob))
}

/** What a phone sees of it, through a daemon as its user starts it. */
async function checkServed(
  t: TestContext,
  folder: string,
  { allowed }: Case,
  { phone: device }: Recording,
): Promise<void> {
  const daemon = await startHeadless(t, { folder, args: ['--min-free-bytes', '0'] })
  assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204)
  if (device !== undefined && allowed.every(({ devices }) => device.id in devices)) {
    const { text, type } = await createPhone(device, daemon.ready.gateway).document()
    const possible = allowed.map((kept) => kept.text ?? (kept.bytes === undefined ? '' : undefined))
    assert.ok(possible.includes(type === 'Text' ? String(text) : undefined), 'the text')
  }
  assert.equal(await daemon.stop(), 0)
  // When devices were seen is not made durable: docs/reliability.md, "Not promised".
  assert.doesNotMatch(daemon.stderr(), /^(?!.*Cannot read when devices were seen last).+$/m)
}

it('a machine whose power is cut has what was acknowledged, nothing torn, and no debris, at each sync of the disk', async (t) => {
  const recording = await record(t)
  const disk = await recording.disk()
  await assertComplete(recording, disk)
  const folder = await temporaryFolder(t)
  const cases = casesOf(recording, disk)
  const failures: string[] = []
  let count = 0
  let started = 0

  async function checkNext(): Promise<void> {
    for (let next = await cases.next(); next.done !== true; next = await cases.next()) {
      const root = join(folder, String(count))
      count += 1
      await writeState(next.value.state, recording.root, root)
      try {
        if (count % START_EVERY === 0) {
          started += 1
          await checkServed(t, root, next.value, recording)
        }
        await check(join(root, 'data'), next.value, recording)
      } catch (error) {
        failures.push(`${next.value.name}: ${error instanceof Error ? error.message : error}`)
      }
      await rm(root, { recursive: true })
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, checkNext))
  t.diagnostic(`${count} states of ${disk.changes.length} changes, ${started} with a daemon`)
  assert.deepEqual(failures.slice(0, 10), [], `${failures.length} of ${count}`)
})

it('a desktop whose power is cut while it saves a file has it whole, there or for the next start', async (t) => {
  const root = await realpath(await temporaryFolder(t))
  const recording = new Recording(t, root, join(await temporaryFolder(t), 'changes'))
  const daemon = await recording.startDesktop()
  const phone = createPhone(await (await ownerOf(daemon)).pair(NEW_PHONE), daemon.ready.gateway)
  const film = recording.makeBytes(100_000)
  await recording.step('pushing a film', async () => {
    await phone.pushFile('File', 'film.mp4', film)
    return undefined
  })
  // Nothing but its saving keeps its bytes now.
  await phone.pushFile('File', 'other.mp4', recording.makeBytes(1000))
  assert.equal(await daemon.stop(), 0, daemon.stderr())
  const disk = await recording.disk()
  const [{ acknowledged } = { acknowledged: Infinity }] = recording.steps
  assert.ok(acknowledged < disk.changes.length)
  for (let cut = acknowledged + 1; cut <= disk.changes.length; cut++) {
    for (const loss of [NO_LOSS, ...lossesOf(root, cut)]) {
      const { files } = disk.stateAfter(cut, loss)
      const isThere = (path: string) => files.get(join(root, path))?.equals(film) === true
      const { unsaved = [] } = JSON.parse(String(files.get(join(root, 'data/item.json'))))
      const isKept = unsaved.some((waiting: { blob: { name: string } }) => {
        return isThere(`data/blobs/${waiting.blob.name}`)
      })
      const where = `after change ${cut} of ${disk.changes.length}: ${loss.name}`
      assert.ok(isKept || isThere('received/film.mp4'), where)
    }
  }
})

/** Nothing was changed that was not written down. */
async function assertComplete({ root }: Recording, disk: RecordedDisk): Promise<void> {
  const { files } = disk.stateAfter(disk.changes.length, NO_LOSS)
  const found = new Map<string, string>()
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) found.set(path, sha256(await readFile(path)))
  }
  const expected = [...files].map(([path, bytes]): [string, string] => [path, sha256(bytes)])
  assert.deepEqual(found, new Map(expected))
}
