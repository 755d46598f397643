import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  JsonDeviceRegistry,
  type JsonDeviceRegistryOptions,
} from '../../src/devices/json-device-registry.ts'
import { mountSmallDisk, needsMount } from '../storage/support/small-disk.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeHasher } from '../support/fake-hasher.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

function open(
  path: string,
  more: Partial<JsonDeviceRegistryOptions> = {},
): Promise<JsonDeviceRegistry> {
  const [hasher, clock, logger] = [new FakeHasher(), new FakeClock(), new CaptureLogger()]
  return JsonDeviceRegistry.open({ path, hasher, clock, logger, ...more })
}

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

/** A limit that is too small for a file without devices. */
async function limitedDisk(t: TestContext): Promise<Disk> {
  const limit = (bytes: string): void => {
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`])
  }
  const path = join(await temporaryFolder(t), 'devices.json')
  return { path, fill: () => limit('8'), makeRoom: () => limit('unlimited') }
}

async function smallDisk(t: TestContext): Promise<Disk> {
  const folder = mountSmallDisk(t, 1)
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
    for (const [where, disk, options] of [
      ['with a limit on files', limitedDisk, needs('prlimit')],
      ['on a file system that is full', smallDisk, needsMount],
    ] as const) {
      it(`${what}, ${where}`, options, async (t) => {
        const opened = await disk(t)
        await use(opened)
        assert.deepEqual(await readdir(dirname(opened.path)), ['devices.json'])
      })
    }
  }
})
