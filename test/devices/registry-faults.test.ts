import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { JsonDeviceRegistry } from '../../src/devices/json-device-registry.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeHasher } from '../support/fake-hasher.ts'
import { LOADER } from '../support/loader.ts'
import { needs } from '../support/requirements.ts'

const KILLS = 8
const WRITER = fileURLToPath(new URL('../support/registry-writer.ts', import.meta.url))

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-faults-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

function open(path: string, logger = new CaptureLogger()): Promise<JsonDeviceRegistry> {
  return JsonDeviceRegistry.open({ path, hasher: new FakeHasher(), clock: new FakeClock(), logger })
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
    const path = join(await makeFolder(t), 'devices.json')
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

/** Does to a registry what does not fit, and checks that it did not happen. */
async function fillsUp(path: string, fill: () => void, makeRoom: () => void): Promise<void> {
  const registry = await open(path)
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

describe('a disk without space', () => {
  it('refuses changes, keeps what there was, and recovers', needs('prlimit'), async (t) => {
    const folder = await makeFolder(t)
    const limit = (bytes: string): void => {
      execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
    }
    // Too small for a file without devices.
    await fillsUp(join(folder, 'devices.json'), () => limit('8'), () => limit('unlimited'))
    assert.deepEqual(await readdir(folder), ['devices.json'])
  })

  it('does the same on a file system that is full', async (t) => {
    const folder = await mountSmallDisk(t)
    if (folder === undefined) return t.skip('skipped: needs the right to mount')
    const ballast = join(folder, 'ballast')
    await fillsUp(
      join(folder, 'devices.json'),
      () => execFileSync('sh', ['-c', 'cat /dev/zero > "$0" 2>/dev/null || true', ballast]),
      () => execFileSync('rm', [ballast]),
    )
    assert.deepEqual(await readdir(folder), ['devices.json'])
  })
})
