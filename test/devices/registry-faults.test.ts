import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  JsonDeviceRegistry,
  type JsonDeviceRegistryOptions,
} from '../../src/devices/json-device-registry.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeHasher } from '../support/fake-hasher.ts'
import { LOADER } from '../support/program.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KILLS = 8
const WRITER = fileURLToPath(new URL('../support/registry-writer.ts', import.meta.url))

function open(
  path: string,
  more: Partial<JsonDeviceRegistryOptions> = {},
): Promise<JsonDeviceRegistry> {
  const [hasher, clock, logger] = [new FakeHasher(), new FakeClock(), new CaptureLogger()]
  return JsonDeviceRegistry.open({ path, hasher, clock, logger, ...more })
}

interface Line {
  readonly username: string
  /** Absent when a change begins, `none` when it ended with the device gone. */
  readonly passwordHash?: string
}

/** Lets the writer write, kills it in the middle, and returns what it had said until then. */
async function writeAndKill(path: string): Promise<readonly Line[]> {
  const child = spawn(process.execPath, [...LOADER, WRITER, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const end = once(child, 'exit')
  const target = 10 + Math.floor(Math.random() * 60)
  const lines: Line[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line))
    if (lines.length === target) child.kill('SIGKILL')
  }
  await end
  return lines
}

describe('a program that is killed while it saves devices', () => {
  it('leaves every acknowledged change, and a file that is whole', async (t) => {
    const path = join(await temporaryFolder(t), 'devices.json')
    const acknowledged = new Map<string, string>()
    for (let kill = 0; kill < KILLS; kill++) {
      const lines = await writeAndKill(path)
      for (const { username, passwordHash } of lines) {
        if (passwordHash !== undefined) acknowledged.set(username, passwordHash)
      }
      const last = lines.at(-1)
      const inFlight = last?.passwordHash === undefined ? last?.username : undefined
      const registry = await open(path)
      for (const [username, passwordHash] of acknowledged) {
        const kept = registry.find(username)?.passwordHash ?? 'none'
        if (username === inFlight) acknowledged.set(username, kept)
        else assert.equal(kept, passwordHash, `${username} after kill ${kill}`)
      }
      for (const { username, passwordHash } of registry.list()) {
        acknowledged.set(username, passwordHash ?? 'none')
      }
    }
    assert.notEqual(acknowledged.size, 0)
  })
})

/** Takes the room of a file, and gives it back. */
interface Disk {
  readonly path: string
  fill(): void
  makeRoom(): void
}

/** Does to the registry of a command what does not fit, and checks that it did not happen. */
async function refuses({ path, fill, makeRoom }: Disk): Promise<void> {
  const registry = await open(path, { isBrief: true })
  const { device } = await registry.add({ kind: 'phone', username: 'alice_1' })
  const gone: string[] = []
  registry.onCredentialGone((id) => gone.push(id))
  const before = [registry.revision, registry.list(), await readFile(path, 'utf8')]
  const refusals: Promise<void>[] = []
  fill()
  try {
    refusals.push(
      assert.rejects(registry.add({ kind: 'phone' }), { name: 'DomainError', code: 'NO_SPACE' }),
      assert.rejects(registry.rotate(device.id), { name: 'DomainError', code: 'NO_SPACE' }),
      assert.rejects(registry.revoke(device.id), { name: 'DomainError', code: 'NO_SPACE' }),
    )
    await Promise.all(refusals)
  } finally {
    makeRoom()
  }
  assert.deepEqual([registry.revision, registry.list(), await readFile(path, 'utf8')], before)
  assert.deepEqual(gone, [])

  const rotated = await registry.rotate(device.id)
  assert.deepEqual((await open(path)).list(), [rotated.device])
}

/** Shuts devices out of the registry of a daemon that cannot save it. */
async function shutsOut({ path, fill, makeRoom }: Disk): Promise<void> {
  const [clock, logger] = [new FakeClock(), new CaptureLogger()]
  const registry = await open(path, { clock, logger })
  const { device: revoked } = await registry.add({ kind: 'phone' })
  const { device: rotated } = await registry.add({ kind: 'phone' })
  const { device: kept } = await registry.add({ kind: 'phone' })
  const gone: string[] = []
  registry.onCredentialGone((id) => gone.push(id))
  const written = await readFile(path, 'utf8')
  fill()
  try {
    await assert.rejects(registry.add({ kind: 'phone' }), { code: 'NO_SPACE' })
    assert.equal(registry.unsaved, undefined)
    const { id, unsaved } = await registry.revoke(revoked.id)
    assert.deepEqual([id, unsaved], [revoked.id, `Cannot save ${path}: there is no space left`])
    await assert.rejects(registry.rotate(rotated.id), {
      code: 'NO_SPACE',
      message: /there is no space left\. There is no new password/,
    })
    assert.deepEqual(gone, [revoked.id, rotated.id])
    const areValid = [revoked, rotated, kept].map(({ id: deviceId, passwordHash }) => {
      return registry.isValid({ deviceId, passwordHash })
    })
    assert.deepEqual(areValid, [false, false, true])
    assert.deepEqual(registry.list(), [{ ...rotated, passwordHash: undefined }, kept])
    // It is tried again, after longer and longer pauses, until it succeeds.
    for (const seconds of [2, 4, 8]) {
      assert.equal(clock.pending, 1)
      clock.advance(seconds * 1000)
      await assert.rejects(registry.add({ kind: 'phone' }), { code: 'NO_SPACE' })
    }
    assert.equal(registry.unsaved, unsaved)
    assert.equal(await readFile(path, 'utf8'), written)
  } finally {
    makeRoom()
  }
  const saved = new Promise<void>((resolve) => {
    registry.onChange(() => registry.unsaved === undefined && resolve())
  })
  clock.advance(60_000)
  await saved
  assert.deepEqual((await open(path)).list(), registry.list())
  assert.match(logger.text, /Cannot save that a credential has ended[^]*Saved which credentials/)
  const again = await registry.rotate(rotated.id)
  assert.equal(again.device.passwordHash, registry.find(rotated.id)?.passwordHash)
  await registry.close()
}

/** The folder of a file system of 64 KiB. Root of a container often may not make one. */
async function mountSmallDisk(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-full-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  t.after(async () => {
    if (status === 0) execFileSync('umount', [folder])
    await rm(folder, { recursive: true })
  })
  return status === 0 ? folder : undefined
}

/** A limit that is too small for a file without devices. */
async function limitedDisk(t: TestContext): Promise<Disk> {
  const limit = (bytes: string): void => {
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
  }
  const path = join(await temporaryFolder(t), 'devices.json')
  return { path, fill: () => limit('8'), makeRoom: () => limit('unlimited') }
}

async function smallDisk(t: TestContext): Promise<Disk | undefined> {
  const folder = await mountSmallDisk(t)
  if (folder === undefined) return undefined
  const ballast = join(folder, 'ballast')
  return {
    path: join(folder, 'devices.json'),
    fill: () => execFileSync('sh', ['-c', 'cat /dev/zero > "$0" 2>/dev/null || true', ballast]),
    makeRoom: () => execFileSync('rm', [ballast]),
  }
}

describe('a disk without space', () => {
  for (const [what, use] of [
    ['refuses the changes of a command, keeps what there was, and recovers', refuses],
    ['keeps nobody in who is shut out of a daemon, and has it saved later', shutsOut],
  ] as const) {
    it(what, needs('prlimit'), async (t) => {
      const disk = await limitedDisk(t)
      await use(disk)
      assert.deepEqual(await readdir(dirname(disk.path)), ['devices.json'])
    })

    it(`${what}, on a file system that is full`, async (t) => {
      const disk = await smallDisk(t)
      if (disk === undefined) return t.skip('skipped: needs the right to mount')
      await use(disk)
      assert.deepEqual(await readdir(dirname(disk.path)), ['devices.json'])
    })
  }
})
