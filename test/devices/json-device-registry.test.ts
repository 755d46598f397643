import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { RememberingVerifier } from '../../src/devices/credential-verifier.ts'
import { JsonDeviceRegistry } from '../../src/devices/json-device-registry.ts'
import { PasswordHasher } from '../../src/devices/password-hasher.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeHasher } from '../support/fake-hasher.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function setUp(t: TestContext) {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'devices.json')
  const clock = new FakeClock()
  const logger = new CaptureLogger()
  const open = () => JsonDeviceRegistry.open({ path, hasher: new FakeHasher(), clock, logger })
  return { folder, path, clock, logger, open }
}

describe('JsonDeviceRegistry on disk', () => {
  it('is empty, and writes nothing, where there is no file', async (t) => {
    const { folder, open } = await setUp(t)
    const registry = await open()
    assert.deepEqual(registry.list(), [])
    await registry.close()
    assert.deepEqual(await readdir(folder), [])
  })

  it('has every acknowledged change after it was opened again', async (t) => {
    const { folder, open } = await setUp(t)
    const registry = await open()
    const [{ device: rotated }, { device: revoked }] = await Promise.all([
      registry.add({ kind: 'phone', label: 'Käse 🧀' }),
      registry.add({ kind: 'peer' }),
      registry.add({ kind: 'phone' }),
    ])
    await Promise.all([registry.rotate(rotated.id), registry.revoke(revoked.id)])
    assert.deepEqual((await open()).list(), registry.list())
    assert.deepEqual(await readdir(folder), ['devices.json'])
  })

  it('keeps no password, and lets nobody else read what it keeps', async (t) => {
    const { folder, path, open } = await setUp(t)
    const registry = await open()
    const { device, password } = await registry.add({ kind: 'phone' })
    const sighting = {
      at: 1_800_000_000_000,
      address: '::1',
      client: 'app/1',
      dialect: 'sync',
    } as const
    registry.noteSighting(device.id, sighting)
    await registry.close()
    for (const kept of [path, join(folder, 'sightings.json')]) {
      assert.equal((await readFile(kept, 'utf8')).includes(password), false)
      assert.equal((await stat(kept)).mode & 0o777, 0o600)
    }
  })

  it('refuses changes after it was closed', async (t) => {
    const { open } = await setUp(t)
    const registry = await open()
    const { device } = await registry.add({ kind: 'phone' })
    await registry.close()
    await assert.rejects(registry.add({ kind: 'phone' }), /closed/)
    await assert.rejects(registry.rotate(device.id), /closed/)
    await assert.rejects(registry.revoke(device.id), /closed/)
    registry.noteSighting(device.id, { at: 1, address: undefined, client: undefined })
    assert.deepEqual((await open()).list(), [device])
  })

  it('goes on when a listener throws: the credential is gone all the same', async (t) => {
    const { logger, open } = await setUp(t)
    const registry = await open()
    const { device } = await registry.add({ kind: 'phone' })
    const heard: string[] = []
    registry.onCredentialGone(() => {
      throw new Error('listener is broken')
    })
    registry.onCredentialGone((id) => heard.push(id))
    await registry.rotate(device.id)
    assert.deepEqual(heard, [device.id])
    assert.match(logger.text, /listener is broken/)
  })
})

describe('sightings on disk', () => {
  const at = 1_800_000_000_000
  const sighting = { at, address: '::1', client: 'app/1', dialect: 'sync' } as const

  async function setUpSeen(t: TestContext) {
    const setup = await setUp(t)
    const registry = await setup.open()
    const { device } = await registry.add({ kind: 'phone' })
    const seenPath = join(setup.folder, 'sightings.json')
    registry.noteSighting(device.id, { ...sighting, at: at - 1 })
    await registry.add({ kind: 'peer' })
    // Its turn comes behind a write that is under way.
    const settled = () => assert.rejects(registry.revoke('nobody'), { code: 'NO_SUCH_DEVICE' })
    return { ...setup, registry, device, seenPath, settled }
  }

  it('are six writes an hour of a phone that polls, and wait for no disk', async (t) => {
    const { path, seenPath, clock, registry, device, settled } = await setUpSeen(t)
    const probe = await open(path)
    const sync = t.mock.method(Object.getPrototypeOf(probe), 'sync')
    await probe.close()
    const written = await readFile(path, 'utf8')
    let writes = 0
    for (let last = 0, second = 1; second <= 3600; second++) {
      registry.noteSighting(device.id, { ...sighting, at: at + second })
      clock.advance(1000)
      await settled()
      const { ino } = await stat(seenPath).catch(() => ({ ino: last }))
      if (ino !== last) writes += 1
      last = ino
    }
    await registry.close()
    assert.deepEqual([writes, sync.mock.callCount()], [6, 0])
    assert.equal(await readFile(path, 'utf8'), written)
  })

  it('are written some time after the first of many requests', async (t) => {
    const { seenPath, clock, open, registry, device, settled } = await setUpSeen(t)
    for (let ms = 1; ms <= 1_000; ms++)
      registry.noteSighting(device.id, { ...sighting, at: at + ms })
    assert.equal(clock.pending, 1)
    clock.advance(599_999)
    await settled()
    await assert.rejects(stat(seenPath), { code: 'ENOENT' })
    clock.advance(1)
    await settled()
    assert.equal(clock.pending, 0)
    const last = { lastSeenAt: at + 1_000, lastSeenAddress: '::1', lastClient: 'app/1' }
    assert.deepEqual((await open()).find(device.id), { ...device, ...last, dialect: 'sync' })
  })

  it('are written at once when they teach how to answer, and for two programs now and then', async (t) => {
    const { seenPath, clock, open, registry, device, settled } = await setUpSeen(t)
    const later = async (ms: number) => {
      clock.advance(ms)
      await settled()
    }
    const learnt = { usesOldKeys: true, isExact: true, reads: 'sync' } as const
    registry.noteSighting(device.id, { ...sighting, ...learnt })
    await later(1000)
    const { dialect, reads, usesOldKeys, isExact } = (await open()).find(device.id) ?? {}
    assert.deepEqual([dialect, reads, usesOldKeys, isExact], ['sync', 'sync', true, true])
    let writes = 0
    for (let last = (await stat(seenPath)).ino, second = 1; second <= 3600; second++) {
      const dialect = second % 2 === 0 ? 'sync' : 'syncclipboard'
      registry.noteSighting(device.id, { ...sighting, dialect })
      await later(1000)
      const { ino } = await stat(seenPath)
      if (ino !== last) writes += 1
      last = ino
    }
    assert.equal(writes, 120)
  })

  it('are written at the end', async (t) => {
    const { seenPath, clock, open, registry, device } = await setUpSeen(t)
    registry.noteSighting(device.id, sighting)
    await registry.close()
    assert.equal(clock.pending, 0)
    assert.equal((await open()).find(device.id)?.lastSeenAt, sighting.at)
    assert.equal((await readFile(seenPath, 'utf8')).includes('argon2'), false)
  })

  it('are written along with a change, and then need no write of their own', async (t) => {
    const { folder, clock, open, registry, device } = await setUpSeen(t)
    registry.noteSighting(device.id, sighting)
    await registry.add({ kind: 'peer' })
    assert.equal(clock.pending, 0)
    assert.deepEqual(await readdir(folder), ['devices.json'])
    assert.equal((await open()).find(device.id)?.lastSeenAt, sighting.at)
    registry.noteSighting(device.id, sighting)
    assert.equal(clock.pending, 1)
  })

  it('that a change has saved count before older ones', async (t) => {
    const { clock, open, registry, device, settled } = await setUpSeen(t)
    registry.noteSighting(device.id, sighting)
    clock.advance(600_000)
    await settled()
    registry.noteSighting(device.id, { ...sighting, at: at + 1, address: '::2' })
    await registry.add({ kind: 'peer' })
    const { lastSeenAt, lastSeenAddress } = (await open()).find(device.id) ?? {}
    assert.deepEqual(
      { lastSeenAt, lastSeenAddress },
      { lastSeenAt: at + 1, lastSeenAddress: '::2' },
    )
  })

  it('of a device that is revoked go from there', async (t) => {
    const { seenPath, open, registry, device } = await setUpSeen(t)
    registry.noteSighting(device.id, sighting)
    await registry.close()
    const again = await open()
    await again.revoke(device.id)
    await again.close()
    assert.equal((await readFile(seenPath, 'utf8')).includes(device.id), false)
  })

  it('wait for the next time when they cannot be written', async (t) => {
    const { folder, path, clock, logger, open, registry, device, settled } = await setUpSeen(t)
    registry.noteSighting(device.id, sighting)
    const kept = await readFile(path)
    await rm(folder, { recursive: true })
    clock.advance(600_000)
    await settled()
    assert.match(logger.text, /Cannot save when devices were seen/)
    await mkdir(folder)
    await writeFile(path, kept)
    clock.advance(600_000)
    await registry.close()
    assert.equal((await open()).find(device.id)?.lastSeenAt, sighting.at)
  })

  it('that a power cut has torn cost those since the last change', async (t) => {
    const { seenPath, logger, open, registry, device } = await setUpSeen(t)
    registry.noteSighting(device.id, sighting)
    await registry.add({ kind: 'peer' })
    registry.noteSighting(device.id, { ...sighting, at: at + 1 })
    await registry.close()
    assert.equal((await open()).find(device.id)?.lastSeenAt, at + 1)
    const good = await readFile(seenPath)
    for (const bytes of [Buffer.alloc(0), good.subarray(0, 40), Buffer.alloc(good.length)]) {
      await writeFile(seenPath, bytes)
      logger.lines.length = 0
      assert.equal((await open()).find(device.id)?.lastSeenAt, at)
      assert.match(logger.text, /Cannot read when devices were seen last/)
    }
  })
})

describe('a devices file that is not as we left it', () => {
  it('is refused when it is damaged, with its name and a remedy, and left alone', async (t) => {
    const { path, open } = await setUp(t)
    const registry = await open()
    await registry.add({ kind: 'phone' })
    const good = await readFile(path)
    const damaged = [
      Buffer.alloc(0),
      good.subarray(0, good.length / 2),
      Buffer.alloc(good.length),
      Buffer.from([0xff]),
      Buffer.from('{"version":2,"devices":[]}'),
      Buffer.from('null'),
    ]
    for (const bytes of damaged) {
      await writeFile(path, bytes)
      await assert.rejects(open(), (error: Error & { code?: string }) => {
        assert.deepEqual([error.name, error.code], ['DomainError', 'DATA_CORRUPT'])
        assert.ok(error.message.startsWith(`Cannot read ${path}: `), error.message)
        assert.match(error.message, /; (restore it from a copy, .*|run that version)$/)
        return true
      })
      assert.deepEqual(await readFile(path), bytes)
    }
  })

  it('is refused when it is no file at all', async (t) => {
    const { folder, path, open } = await setUp(t)
    await mkdir(path)
    await assert.rejects(open(), { code: 'DATA_DIRECTORY_UNUSABLE' })
    await rm(path, { recursive: true })
    await writeFile(join(folder, 'elsewhere'), '{"version":1,"devices":[]}')
    await symlink('elsewhere', path)
    await assert.rejects(open(), { code: 'DATA_DIRECTORY_UNUSABLE', message: /symbolic link/ })
  })

  it('is refused when it is far too large', async (t) => {
    const { path, open } = await setUp(t)
    await writeFile(path, '')
    await truncate(path, 64 * 1024 * 1024 + 1)
    await assert.rejects(open(), { code: 'DATA_CORRUPT', message: /too large/ })
  })

  it('is taken away from other users, who could read it', async (t) => {
    const { path, logger, open } = await setUp(t)
    await writeFile(path, '{"version":1,"devices":[]}')
    await chmod(path, 0o644)
    await open()
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.match(logger.text, /Other users could read/)
  })

  const skip = process.getuid?.() !== 0 && 'skipped: needs root'
  it('is refused when it belongs to somebody else', { skip }, async (t) => {
    const { path, open } = await setUp(t)
    await writeFile(path, '{"version":1,"devices":[]}')
    await chown(path, 12_345, 12_345)
    await assert.rejects(open(), { code: 'DATA_DIRECTORY_UNUSABLE', message: /another user/ })
  })
})

describe('paired, logged in, rotated and revoked', () => {
  it('works with real hashing from end to end', async (t) => {
    const { path, clock, logger } = await setUp(t)
    const hasher = new PasswordHasher({ clock })
    t.after(() => hasher.close())
    const registry = await JsonDeviceRegistry.open({ path, hasher, clock, logger })
    const verifier = new RememberingVerifier({ registry, hasher })
    const verify = (username: string, password: string) =>
      verifier.verify(username, password, { network: '', isDeferred: false })

    const { device, password } = await registry.add({ kind: 'phone' })
    assert.deepEqual(await verify(device.username, password), device)
    const rotated = await registry.rotate(device.username)
    assert.equal(await verify(device.username, password), undefined)
    assert.deepEqual(await verify(device.username, rotated.password), rotated.device)
    await registry.revoke(device.id)
    assert.equal(await verify(device.username, rotated.password), undefined)
    assert.equal(logger.text, '')
  })
})
