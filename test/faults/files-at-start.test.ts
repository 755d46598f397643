import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it, type TestContext } from 'node:test'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { takeSnapshot } from './support/snapshot.ts'
import { failToStart, stage, startHeadless, startPaired, take } from './support/subject.ts'

const NOBODY = 65_534

const asRoot = { skip: process.geteuid?.() === 0 ? false : 'skipped: needs root' }

/** A folder that a daemon has worked in. */
let worn = ''
/** The one device that is paired there. */
let device: PairedDevice | undefined

before(async () => {
  worn = await mkdtemp(join(tmpdir(), 'clipgate-worn-'))
})

after(async () => {
  await rm(worn, { recursive: true })
})

async function work(t: TestContext): Promise<PairedDevice> {
  const { daemon, device: paired, phone } = await startPaired(t, { folder: worn })
  await phone.pushFile('File', 'a', Buffer.from('the item'))
  await stage(phone, 'waits', 'it waits')
  await daemon.stop()
  return paired
}

type Paths = Awaited<ReturnType<typeof copyWorn>>['paths']

/** A copy of the worn folder, with a config file and joined daemons: none. */
async function copyWorn(t: TestContext) {
  device ??= await work(t)
  const folder = await temporaryFolder(t)
  await cp(worn, folder, { recursive: true })
  const data = join(folder, 'data')
  const { binary } = JSON.parse(await readFile(join(data, 'item.json'), 'utf8'))
  const [record = ''] = await readdir(join(data, 'staging'))
  const paths = {
    data,
    config: join(folder, 'config', 'clipgate', 'config.json'),
    devices: join(data, 'devices.json'),
    item: join(data, 'item.json'),
    /** Bytes of the item. */
    blob: join(data, 'blobs', binary.blob.name),
    /** Record of the staged upload. */
    record: join(data, 'staging', record),
    peers: join(data, 'peers.json'),
    lock: join(data, 'lock'),
    token: join(data, 'control.token'),
  }
  await mkdir(join(paths.config, '..'), { recursive: true })
  await writeFile(paths.config, '{"headless":true}')
  await writeFile(paths.peers, '{"version":1,"peers":[]}\n', { mode: 0o600 })
  return { folder, paths }
}

function phoneOf({ ready }: DaemonProcess): Phone {
  assert.ok(device !== undefined, 'there is a worn folder')
  return createPhone(device, ready.gateway)
}

async function modeOf(path: string): Promise<string> {
  return ((await lstat(path)).mode & 0o777).toString(8)
}

type Spoil = (path: string) => Promise<unknown>

const write =
  (content: string): Spoil =>
  (path) =>
    writeFile(path, content, { encoding: 'latin1', mode: 0o600 })

const newer: Spoil = async (path) => {
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(/"version": ?1/, '"version": 99'))
}

const halve: Spoil = async (path) => truncate(path, Math.floor((await lstat(path)).size / 2))

const giveAway: Spoil = (path) => chown(path, NOBODY, NOBODY)

const plantForeign: Spoil = async (path) => {
  await writeFile(path, '{}')
  await giveAway(path)
}

const link: Spoil = async (path) => {
  await rename(path, `${path}.real`)
  await symlink(`${path}.real`, path)
}

const makeFolder: Spoil = async (path) => {
  await rm(path, { force: true })
  await mkdir(path)
}

const makePipe: Spoil = async (path) => {
  await rm(path, { force: true })
  execFileSync('mkfifo', [path])
}

const RESTORE_DEVICES = 'restore it from a copy, or move it away and pair all devices again'
const RESTORE_ITEM =
  'restore the data directory from a copy; or copy it first, since the bytes of the item go with ' +
  'this file, and then move the file away'
const RESTORE_PEERS = 'restore it, or move it away and join again'
const RUN_NEWER = 'a newer version of clipgate wrote it; run that version'
const OTHER_USER = 'it belongs to another user; run as that user, or change its owner'
const NO_SETTING = 'it is not a setting; see "clipgate help serve"'
const NO_LOCK =
  'it is no lock of ours; make sure that no clipgate runs on this folder, then remove the file'

/** A file, what is wrong with it, and the end of the one line that says so. */
type Refused = readonly [keyof Paths, string, Spoil, string | RegExp]

const REFUSED: readonly Refused[] = [
  ['devices', 'empty', write(''), `it is not JSON; ${RESTORE_DEVICES}`],
  ['devices', 'cut off', halve, `it is not JSON; ${RESTORE_DEVICES}`],
  ['devices', 'not text', write('\xff\xfe'), `it is not UTF-8; ${RESTORE_DEVICES}`],
  ['devices', 'something else', write('[]'), `"value" must be an object; ${RESTORE_DEVICES}`],
  ['devices', 'of a newer version', newer, RUN_NEWER],
  ['devices', 'a link', link, /it is a symbolic link; make it a file that this user can read$/],
  ['devices', 'a folder', makeFolder, 'it is not a file; move it away'],
  ['devices', 'a pipe', makePipe, 'it is not a file; move it away'],
  ['item', 'empty', write(''), RESTORE_ITEM],
  ['item', 'cut off', halve, RESTORE_ITEM],
  ['item', 'not text', write('\xff\xfe'), RESTORE_ITEM],
  ['item', 'something else', write('[]'), RESTORE_ITEM],
  ['item', 'of a newer version', newer, RUN_NEWER],
  ['item', 'a link', link, /it is a symbolic link; put the real thing in its place$/],
  ['item', 'a folder', makeFolder, 'it is not a file; move it away'],
  ['item', 'a pipe', makePipe, 'it is not a file; move it away'],
  ['blob', 'cut off', halve, RESTORE_ITEM],
  ['blob', 'missing', unlink, RESTORE_ITEM],
  ['peers', 'cut off', halve, `it is not JSON; ${RESTORE_PEERS}`],
  ['peers', 'not text', write('\xff\xfe'), RESTORE_PEERS],
  ['peers', 'something else', write('[]'), RESTORE_PEERS],
  ['peers', 'of a newer version', newer, RUN_NEWER],
  ['peers', 'a link', link, /it is a symbolic link; put the real thing in its place$/],
  ['lock', 'empty', write(''), NO_LOCK],
  ['lock', 'cut off', write('{"token":"abab'), NO_LOCK],
  ['lock', 'something else', write('{"pid":0}'), NO_LOCK],
  ['lock', 'a folder', makeFolder, 'it is not a file; move it away'],
  ['token', 'a folder', makeFolder, 'there is a folder of that name; move it away'],
  ['config', 'cut off', write('{"headless":true'), 'it is not valid JSON, in line 1'],
  ['config', 'something else', write('[]'), 'it must hold one JSON object'],
  ['config', 'of a newer version', write('{"shiny":1}'), NO_SETTING],
  ['config', 'a folder', makeFolder, 'it cannot be read: it is a folder (EISDIR)'],
]

const ANOTHERS = (['devices', 'item', 'blob', 'record', 'peers', 'lock', 'data'] as const).map(
  (name): Refused => {
    return [name, 'of another user', name === 'lock' ? plantForeign : giveAway, OTHER_USER]
  },
)

for (const [name, what, spoil, end] of [...REFUSED, ...ANOTHERS]) {
  const condition = what === 'of another user' ? asRoot : {}
  it(
    `a daemon does not start, says what to do, and leaves everything as it is when ${name} is ${what}`,
    condition,
    async (t) => {
      const { folder, paths } = await copyWorn(t)
      await spoil(paths[name])
      const spoilt = takeSnapshot(folder)
      const { code, stderr } = await failToStart(t, folder)
      assert.equal(code, 1)
      const [line = '', rest] = stderr.split('\n')
      assert.equal(rest, '', stderr)
      // Bytes that are missing are named by the file that misses them.
      const named = name === 'blob' && line.includes(paths.item) ? paths.item : paths[name]
      assert.ok(line.startsWith('Cannot ') && line.includes(named), line)
      if (typeof end === 'string') assert.ok(line.endsWith(end), line)
      else assert.match(line, end)
      assert.deepEqual(takeSnapshot(folder), spoilt)
    },
  )
}

it('a daemon starts all the same when others could read its files, and takes them away from them', async (t) => {
  const { folder, paths } = await copyWorn(t)
  const { data, devices, item, blob, record, token } = paths
  const files = [devices, item, blob, record, token]
  const folders = [data, join(data, 'blobs'), join(data, 'staging')]
  for (const path of files) await chmod(path, 0o644)
  for (const path of folders) await chmod(path, 0o755)
  const daemon = await startHeadless(t, { folder })
  for (const path of files) assert.equal(await modeOf(path), '600', path)
  for (const path of folders) assert.equal(await modeOf(path), '700', path)
  assert.match(daemon.stderr(), /Other users could read the devices file; not any more/)
  assert.equal(String(await phoneOf(daemon).download()), 'the item')
  assert.equal(await take(phoneOf(daemon), 'waits'), 'it waits')
})

for (const [what, spoil, remedy] of [
  ['cut off', halve, 'left as it is; remove it when it is not needed'],
  ['of a newer version', newer, 'left as it is; run the newer version of clipgate that wrote it'],
] as const) {
  it(`a daemon starts all the same when a staged upload has a record that is ${what}: both are left`, async (t) => {
    const { folder, paths } = await copyWorn(t)
    const { record } = paths
    const before = await readFile(record)
    await spoil(record)
    const daemon = await startHeadless(t, { folder })
    const named = `path=${JSON.stringify(record)} remedy="${remedy}"`
    assert.ok(daemon.stderr().includes(named), daemon.stderr())
    assert.equal(String(await phoneOf(daemon).download()), 'the item')
    await daemon.stop()
    // Whoever knows what to do with it still can.
    await writeFile(record, before)
    assert.equal(await take(phoneOf(await startHeadless(t, { folder })), 'waits'), 'it waits')
  })
}

const TOKENS: Readonly<Record<string, Spoil>> = {
  garbage: write('\x00\xff'),
  'readable to all': (path) => chmod(path, 0o644),
  'a link': link,
}
for (const [what, spoil] of Object.entries(TOKENS)) {
  it(`a daemon starts all the same when the token of an earlier run is ${what}: it makes a new one`, async (t) => {
    const { folder, paths } = await copyWorn(t)
    const { token } = paths
    await spoil(token)
    const daemon = await startHeadless(t, { folder })
    assert.equal(await modeOf(token), '600')
    assert.ok((await lstat(token)).isFile(), 'it is a file of its own')
    assert.equal(JSON.parse((await daemon.run('status', '--json')).stdout).running, true)
  })
}

it('a daemon starts all the same when a token became garbage while it runs: commands say what to do', async (t) => {
  const { folder, paths } = await copyWorn(t)
  const { token } = paths
  const daemon = await startHeadless(t, { folder })
  for (const content of ['\x00\xff', 'another', '']) {
    await writeFile(token, content, 'latin1')
    const stderr =
      /^Cannot reach the daemon \(process \d+\): .*control\.token.*; stop it, or try again\n$/
    await assert.rejects(daemon.run('status'), { stderr })
  }
})

it('whoever follows a remedy loses nothing when the item cannot be read', async (t) => {
  const { folder, paths } = await copyWorn(t)
  const { data, item } = paths
  const good = await readFile(item)
  await halve(item)
  const { stderr } = await failToStart(t, folder)
  assert.ok(stderr.includes(RESTORE_ITEM), stderr)
  const copy = join(folder, 'copy')
  await cp(data, copy, { recursive: true })
  await rename(item, join(folder, 'moved'))
  const daemon = await startHeadless(t, { folder })
  assert.equal((await phoneOf(daemon).document())['text'], '')
  assert.equal(await take(phoneOf(daemon), 'waits'), 'it waits')
  await daemon.stop()

  // Somebody has mended the file.
  await rm(data, { recursive: true })
  await rename(copy, data)
  await writeFile(item, good)
  const mended = phoneOf(await startHeadless(t, { folder }))
  assert.equal(String(await mended.download()), 'the item')
  assert.equal(await take(mended, 'waits'), 'it waits')
})

it('whoever follows a remedy loses nothing when the devices cannot be read', async (t) => {
  const { folder, paths } = await copyWorn(t)
  const { devices } = paths
  const moved = join(folder, 'moved')
  await rename(devices, moved)
  const daemon = await startHeadless(t, { folder })
  assert.equal((await phoneOf(daemon).fetch('/')).status, 401)
  const again = await daemon.phone('Again')
  assert.equal(String(await again.download()), 'the item')
  await daemon.stop()
  await rename(moved, devices)
  assert.equal(await take(phoneOf(await startHeadless(t, { folder })), 'waits'), 'it waits')
})

it('whoever follows a remedy loses nothing when the lock cannot be read', async (t) => {
  const { folder, paths } = await copyWorn(t)
  const { lock } = paths
  await writeFile(lock, '{')
  await failToStart(t, folder)
  await unlink(lock)
  assert.equal(await take(phoneOf(await startHeadless(t, { folder })), 'waits'), 'it waits')
})
