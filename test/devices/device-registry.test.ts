import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DomainErrorCode } from '../../src/core/domain-error.ts'
import { OWNER_ID } from '../../src/core/owner.ts'
import type {
  Device,
  DeviceRegistry,
  MintedDevice,
  NewDevice,
} from '../../src/ports/device-registry.ts'
import { openTestDevices } from '../support/test-devices.ts'

const NAMES = { username: 'alice_1', label: 'Pixel' } as const
const ALICE = { kind: 'phone', ...NAMES, password: 'open sesame' } as const

/** A registry with a device. */
async function openWith(wanted: NewDevice = { kind: 'phone' }) {
  const registry = await openTestDevices()
  return { registry, ...(await registry.add(wanted)) }
}

function listen(registry: DeviceRegistry): string[] {
  const gone: string[] = []
  registry.onCredentialGone((id) => gone.push(id))
  return gone
}

/** Checks that the listener runs when the new state counts, and before `change` resolves. */
async function endsTheCredential(
  registry: DeviceRegistry,
  device: Device,
  change: (id: string) => Promise<unknown>,
): Promise<void> {
  const { revision } = registry
  const seen: unknown[] = []
  registry.onCredentialGone((id) => {
    assert.equal(id, device.id)
    assert.equal(registry.revision > revision, true)
    assert.notEqual(registry.find(id)?.passwordHash, device.passwordHash)
    seen.push('gone')
  })
  await change(device.id)
  seen.push('resolved')
  assert.deepEqual(seen, ['gone', 'resolved'])
}

describe('add()', () => {
  it('mints what nobody chose', async () => {
    const registry = await openTestDevices()
    const { device, password } = await registry.add({ kind: 'phone' })
    assert.match(device.id, /^did_[0-9a-f]{32}$/)
    assert.match(device.username, /^mobile_[0-9a-f]{8}$/)
    assert.match(password, /^[A-Za-z0-9_-]{22}$/)
    assert.equal(device.label, 'Phone')
    const peer = await registry.add({ kind: 'peer' })
    assert.match(peer.device.username, /^peer_[0-9a-f]{8}$/)
    assert.notEqual(peer.password, password)
  })

  it('takes what was chosen, and trims the label', async () => {
    const registry = await openTestDevices()
    const { device, password } = await registry.add({ ...ALICE, label: '  Käse 🧀 ' })
    assert.deepEqual([device.username, device.label], ['alice_1', 'Käse 🧀'])
    assert.equal(password, ALICE.password)
  })

  it('numbers the labels that it mints', async () => {
    const registry = await openTestDevices()
    const kinds = ['phone', 'phone', 'peer', 'phone'] as const
    for (const kind of kinds) await registry.add({ kind })
    const labels = registry.list().map(({ label }) => label)
    assert.deepEqual(labels, ['Phone', 'Phone 2', 'Peer', 'Phone 3'])
  })

  it('lists in the order of pairing, and finds by id and by user name', async () => {
    const registry = await openTestDevices()
    assert.deepEqual(registry.list(), [])
    const first = await registry.add({ kind: 'phone' })
    const second = await registry.add({ kind: 'phone' })
    assert.deepEqual(registry.list(), [first.device, second.device])
    assert.deepEqual(registry.find(second.device.id), second.device)
    assert.deepEqual(registry.find(second.device.username), second.device)
    assert.equal(registry.find('nobody'), undefined)
  })

  it('is not needed by the owner, who has no password', async () => {
    const registry = await openTestDevices()
    assert.ok(registry.isValid({ deviceId: OWNER_ID, passwordHash: undefined }))
    assert.ok(!registry.isValid({ deviceId: 'did_x', passwordHash: undefined }))
  })

  it('keeps a hash and not the password', async () => {
    const { registry, device } = await openWith(ALICE)
    assert.equal(typeof device.passwordHash, 'string')
    assert.equal(JSON.stringify(registry.list()).includes(ALICE.password), false)
  })

  it('ends no credential, but changes what is true', async () => {
    const registry = await openTestDevices()
    const gone = listen(registry)
    const { revision } = registry
    await registry.add(ALICE)
    assert.equal(registry.revision > revision, true)
    assert.deepEqual(gone, [])
  })

  const refused: Readonly<Partial<Record<DomainErrorCode, readonly object[]>>> = {
    USERNAME_INVALID: [
      '',
      'alice',
      '1alice',
      '_alice',
      'alice-1',
      'alice 1',
      'alicé_1',
      'alice:1',
      'alice_1\n',
      'a'.repeat(33),
    ].map((username) => ({ username })),
    USERNAME_TAKEN: ['alice_1', 'ALICE_1'].map((username) => ({ username })),
    PASSWORD_INVALID: [
      '',
      'seven77',
      '🔑'.repeat(7),
      'x'.repeat(257),
      'with\nnewline',
      'with\u0000null',
      'with\u0085c1',
      'lone\ud800half',
      'with\u2028line',
    ].map((password) => ({ password })),
    LABEL_INVALID: ['', '  ', 'x'.repeat(65), 'a\nb', 'a\u001b[31mb', 'a\udc00b'].map((label) => ({
      label,
    })),
  }
  for (const [code, choices] of Object.entries(refused)) {
    it(`refuses with ${code}, and changes nothing`, async () => {
      const { registry } = await openWith(ALICE)
      const before = [registry.revision, registry.list()]
      for (const choice of choices) {
        await assert.rejects(
          registry.add({ kind: 'phone', ...choice }),
          { name: 'DomainError', code },
          JSON.stringify(choice),
        )
      }
      assert.deepEqual([registry.revision, registry.list()], before)
    })
  }

  it('takes the longest of everything', async () => {
    const registry = await openTestDevices()
    const names = { username: `a${'9'.repeat(31)}`, label: '🧀'.repeat(64) }
    const longest = { ...names, password: '🔑'.repeat(256) }
    const { device, password } = await registry.add({ kind: 'phone', ...longest })
    const { username, label } = device
    assert.deepEqual({ username, label, password }, longest)
  })

  // Protocol: A user name and a password belong to exactly one device
  it('gives a user name to one of those who want it at once', async () => {
    const registry = await openTestDevices()
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => registry.add(ALICE)))
    const failures = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    assert.deepEqual(failures, Array(3).fill('USERNAME_TAKEN'))
    assert.equal(registry.list().length, 1)
  })
})

describe('rotate()', () => {
  it('replaces the hash, and nothing else', async () => {
    const registry = await openTestDevices()
    const old = await registry.add(ALICE)
    for (const key of [old.device.id, old.device.username]) {
      const { device, password } = await registry.rotate(key)
      assert.match(password, /^[A-Za-z0-9_-]{22}$/)
      assert.notEqual(device.passwordHash, old.device.passwordHash)
      assert.deepEqual({ ...device, passwordHash: '' }, { ...old.device, passwordHash: '' })
      assert.deepEqual(registry.list(), [device])
    }
  })

  it('takes a chosen password', async () => {
    const { registry } = await openWith(ALICE)
    const { password } = await registry.rotate('alice_1', 'eight888')
    assert.equal(password, 'eight888')
  })

  it('refuses a bad password and an unknown device, and changes nothing', async () => {
    const { registry } = await openWith(ALICE)
    const before = [registry.revision, registry.list()]
    await assert.rejects(registry.rotate('alice_1', 'short'), { code: 'PASSWORD_INVALID' })
    await assert.rejects(registry.rotate('alice_2'), { code: 'NO_SUCH_DEVICE' })
    assert.deepEqual([registry.revision, registry.list()], before)
  })

  it('changes nothing for those who have gone, nor does pairing', async () => {
    const { registry } = await openWith(ALICE)
    const before = [registry.revision, registry.list()]
    const gone = AbortSignal.abort()
    const add = registry.add({ kind: 'phone' }, gone)
    const rotate = registry.rotate('alice_1', undefined, undefined, gone)
    await assert.rejects(add, { name: 'AbortError' })
    await assert.rejects(rotate, { name: 'AbortError' })
    assert.deepEqual([registry.revision, registry.list()], before)
  })

  it('has told that the old credential is gone before it resolves', async () => {
    const { registry, device } = await openWith(ALICE)
    await endsTheCredential(registry, device, (id) => registry.rotate(id))
  })

  it('leaves one password standing when two are asked for at once', async () => {
    const { registry } = await openWith(ALICE)
    const minted: MintedDevice[] = []
    await Promise.all([1, 2, 3].map(async () => minted.push(await registry.rotate('alice_1'))))
    const hashes = minted.map(({ device }) => device.passwordHash)
    assert.equal(new Set(hashes).size, 3)
    // The last to resolve is the one that holds.
    assert.equal(registry.find('alice_1')?.passwordHash, hashes.at(-1))
  })
})

describe('revoke()', () => {
  it('removes the device, which frees its user name', async () => {
    const { registry, device } = await openWith(ALICE)
    const other = await registry.add({ kind: 'phone' })
    assert.equal((await registry.revoke('alice_1')).id, device.id)
    assert.deepEqual(registry.list(), [other.device])
    assert.equal(registry.find(device.id), undefined)
    await assert.rejects(registry.revoke(device.id), { code: 'NO_SUCH_DEVICE' })
    const again = await registry.add(ALICE)
    assert.notEqual(again.device.id, device.id)
  })

  it('has told that the credential is gone before it resolves', async () => {
    const { registry, device } = await openWith(ALICE)
    await endsTheCredential(registry, device, (id) => registry.revoke(id))
  })

  it('wins over rotations that are under way', async () => {
    const { registry, device } = await openWith(ALICE)
    const rotations = [1, 2].map(() => registry.rotate(device.id))
    const [, ...rotated] = await Promise.allSettled([registry.revoke(device.id), ...rotations])
    assert.deepEqual(registry.list(), [])
    for (const one of rotated) {
      if (one.status === 'rejected') assert.equal(one.reason.code, 'NO_SUCH_DEVICE')
    }
  })
})

it('stops telling who does not listen any more, and others not', async () => {
  const { registry, device } = await openWith(ALICE)
  const heard: string[] = []
  const listener = (id: string): void => void heard.push(id)
  const stop = registry.onCredentialGone(listener)
  registry.onCredentialGone(listener)
  stop()
  await registry.rotate(device.id)
  assert.deepEqual(heard, [device.id])
})

it('tells of every change of what it lists, once it shows', async () => {
  const registry = await openTestDevices()
  const seen: (string | undefined)[] = []
  const stop = registry.onChange(() => {
    const [device] = registry.list()
    seen.push(device === undefined ? 'none' : (device.lastClient ?? device.passwordHash))
  })
  const { device } = await registry.add(ALICE)
  const at = Date.UTC(2026, 5, 1)
  registry.noteSighting(device.id, { at, address: undefined, client: 'app/1' })
  registry.noteSighting('did_none', { at, address: undefined, client: 'app/2' })
  const rotated = await registry.rotate(device.id)
  await registry.revoke(device.id)
  assert.equal(rotated.device.lastClient, 'app/1')
  assert.deepEqual(seen, [device.passwordHash, 'app/1', 'app/1', 'none'])
  stop()
  await registry.add({ kind: 'phone' })
  assert.equal(seen.length, 4)
})

describe('noteSighting()', () => {
  const at = Date.UTC(2026, 5, 1)

  it('shows in find() and list(), and leaves the revision alone', async () => {
    const { registry, device } = await openWith()
    const { revision } = registry
    const dialect = 'sync'
    registry.noteSighting(device.id, { at, address: '10.0.0.7', client: 'app/1', dialect })
    const last = { lastSeenAt: at, lastSeenAddress: '10.0.0.7', lastClient: 'app/1' }
    const seen = { ...device, ...last, dialect }
    assert.deepEqual(registry.find(device.username), seen)
    assert.deepEqual(registry.list(), [seen])
    assert.equal(registry.revision, revision)
  })

  it('keeps the keys that an earlier push told', async () => {
    const { registry, device } = await openWith()
    const sighting = { at, address: undefined, client: undefined }
    for (const usesOldKeys of [true, false]) {
      registry.noteSighting(device.id, { ...sighting, usesOldKeys })
      registry.noteSighting(device.id, sighting)
      assert.equal(registry.find(device.id)?.usesOldKeys, usesOldKeys)
    }
  })

  it('keeps the dialect that an earlier request told', async () => {
    const { registry, device } = await openWith()
    const sighting = { at, address: undefined, client: undefined }
    registry.noteSighting(device.id, { ...sighting, dialect: 'syncclipboard' })
    registry.noteSighting(device.id, { ...sighting, at: at + 1 })
    const { lastSeenAt, dialect } = registry.find(device.id) ?? {}
    assert.deepEqual({ lastSeenAt, dialect }, { lastSeenAt: at + 1, dialect: 'syncclipboard' })
  })

  it('survives a rotation', async () => {
    const { registry, device } = await openWith()
    registry.noteSighting(device.id, { at, address: undefined, client: undefined })
    const rotated = await registry.rotate(device.id)
    assert.equal(rotated.device.lastSeenAt, at)
    assert.equal(registry.find(device.id)?.lastSeenAt, at)
  })

  it('cuts the name of the client to a sane length', async () => {
    const { registry, device } = await openWith()
    const client = `${'x'.repeat(199)}🧀${'y'.repeat(8000)}`
    registry.noteSighting(device.id, { at, address: undefined, client })
    const { lastClient = '' } = registry.find(device.id) ?? {}
    assert.equal(lastClient.startsWith('x'.repeat(199)), true)
    assert.equal(lastClient.length <= 200 && lastClient.isWellFormed(), true)
  })

  it('ignores devices that are gone', async () => {
    const { registry, device } = await openWith()
    await registry.revoke(device.id)
    registry.noteSighting(device.id, { at, address: undefined, client: undefined })
    assert.deepEqual(registry.list(), [])
  })
})
