import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RememberingVerifier } from '../../src/devices/credential-verifier.ts'
import type { Turn } from '../../src/ports/credential-verifier.ts'
import { FakeHasher } from '../support/fake-hasher.ts'
import { openTestDevices } from '../support/test-devices.ts'

const PASSWORD = 'open sesame'

const TURN: Turn = { network: '192.0.2.7', isDeferred: false }

const ELSEWHERE: Turn = { network: '192.0.2.8', isDeferred: false }

const DEFERRED: Turn = { ...TURN, isDeferred: true }

const ALICE = { kind: 'phone', username: 'alice_1', password: PASSWORD } as const

async function setUp() {
  const hasher = new FakeHasher()
  const registry = await openTestDevices(Date.now, hasher)
  const { device } = await registry.add(ALICE)
  const real = new RememberingVerifier({ registry, hasher })
  const verifier = {
    recall: (username: string, password: string) => real.recall(username, password),
    verify: (username: string, password: string, turn: Turn = TURN) =>
      real.verify(username, password, turn),
  }
  return { hasher, registry, device, verifier }
}

async function accepts(
  verifier: Awaited<ReturnType<typeof setUp>>['verifier'],
  password: string,
): Promise<void> {
  assert.equal((await verifier.verify('alice_1', password))?.username, 'alice_1')
}

/** Holds every verification until it is opened. */
function holdUp(hasher: FakeHasher): () => void {
  let open = (): void => undefined
  hasher.gate = new Promise((resolve) => (open = resolve))
  return () => open()
}

describe('verify()', () => {
  it('answers with the device as the registry has it now', async () => {
    const { registry, device, verifier } = await setUp()
    assert.equal(await verifier.verify('alice_1', PASSWORD), device)
    registry.noteSighting(device.id, { at: 7, address: undefined, client: undefined })
    assert.equal((await verifier.verify('alice_1', PASSWORD))?.lastSeenAt, 7)
  })

  it('answers undefined to everything else', async () => {
    const { device, verifier } = await setUp()
    const wrong = [
      ['alice_1', ''],
      ['alice_1', 'open sesam'],
      ['alice_1', `${PASSWORD} `],
      ['alice_1o', 'pen sesame'],
      ['ALICE_1', PASSWORD],
      ['', PASSWORD],
      ['alice_2', PASSWORD],
      [device.id, PASSWORD],
    ] as const
    for (const [username, password] of wrong) {
      assert.equal(await verifier.verify(username, password), undefined, username)
    }
  })

  it('costs one run however often the right credentials come', async () => {
    const { hasher, verifier } = await setUp()
    for (let round = 0; round < 5; round++) await accepts(verifier, PASSWORD)
    assert.equal(hasher.verified.length, 1)
  })

  // Protocol: a well-formed pair costs the same
  it('costs one run for each wrong pair, whether the user exists or not', async () => {
    const { hasher, device, verifier } = await setUp()
    for (let round = 0; round < 5; round++) {
      assert.equal(await verifier.verify('alice_1', 'wrong one'), undefined)
      assert.equal(await verifier.verify('nobody_1', 'wrong one'), undefined)
    }
    assert.deepEqual(hasher.verified, [device.passwordHash, undefined])
  })

  // Protocol: Credentials that are wrong cost one verification, however often they come
  it('still takes the right credentials after and between wrong ones', async () => {
    const { verifier } = await setUp()
    for (let round = 0; round < 20; round++) {
      assert.equal(await verifier.verify('alice_1', `wrong ${round}`), undefined)
    }
    await accepts(verifier, PASSWORD)
    assert.equal(await verifier.verify('alice_1', 'wrong 1'), undefined)
  })

  it('costs one run when equal credentials come at once', async () => {
    const { hasher, device, verifier } = await setUp()
    const answers = await Promise.all([1, 2, 3].map(() => verifier.verify('alice_1', PASSWORD)))
    assert.deepEqual(answers, Array(3).fill(device))
    assert.equal(hasher.verified.length, 1)
  })

  it('costs nothing when the credentials are longer than any real ones', async () => {
    const { hasher, verifier } = await setUp()
    const long = 'x'.repeat(257)
    const pairs = [
      ['alice_1', long],
      ['alice_1', '🔑'.repeat(257)],
      ['alice_1', 'x'.repeat(1_000_000)],
      [long, PASSWORD],
    ] as const
    for (const [username, password] of pairs) {
      assert.equal(await verifier.verify(username, password), undefined)
    }
    assert.deepEqual(hasher.verified, [])
  })

  it('takes the longest password, counted as people count', async () => {
    const { registry, verifier } = await setUp()
    await registry.rotate('alice_1', '🔑'.repeat(256))
    await accepts(verifier, '🔑'.repeat(256))
  })

  // Protocol: the old password fails as soon as
  it('refuses the old password from the request after a rotation on', async () => {
    const { registry, verifier } = await setUp()
    await accepts(verifier, PASSWORD)
    await registry.rotate('alice_1', 'new password')
    assert.equal(await verifier.verify('alice_1', PASSWORD), undefined)
    await accepts(verifier, 'new password')
  })

  it('takes a password again that was wrong before a rotation', async () => {
    const { registry, verifier } = await setUp()
    assert.equal(await verifier.verify('alice_1', 'new password'), undefined)
    await registry.rotate('alice_1', 'new password')
    assert.equal(await verifier.verify('alice_1', 'another one'), undefined)
    await accepts(verifier, 'new password')
  })

  it('does not mistake one pair for another that reads the same', async () => {
    const { verifier } = await setUp()
    assert.equal(await verifier.verify('alice_', `1${PASSWORD}`), undefined)
    await accepts(verifier, PASSWORD)
  })

  // Protocol: the credentials fail at once
  it('refuses a device from the request after its revocation on, record or hash', async (t) => {
    const { registry, device, verifier } = await setUp()
    await accepts(verifier, PASSWORD)
    const find = t.mock.method(registry, 'find', () => ({ ...device, passwordHash: undefined }))
    assert.equal(await verifier.verify('alice_1', PASSWORD), undefined)
    find.mock.restore()
    await registry.revoke('alice_1')
    assert.equal(await verifier.verify('alice_1', PASSWORD), undefined)
  })

  it('refuses a device that was rotated or revoked while its password was verified', async () => {
    const { hasher, registry, verifier } = await setUp()
    for (const change of ['rotate', 'revoke'] as const) {
      await registry.rotate('alice_1', PASSWORD)
      const release = holdUp(hasher)
      const answer = verifier.verify('alice_1', PASSWORD)
      await registry[change]('alice_1')
      release()
      assert.equal(await answer, undefined)
    }
  })

  it('does not share a run that began before a rotation', async () => {
    const { hasher, registry, verifier } = await setUp()
    const release = holdUp(hasher)
    const before = verifier.verify('alice_1', 'new password')
    await registry.rotate('alice_1', 'new password')
    const after = verifier.verify('alice_1', 'new password')
    release()
    assert.equal(await before, undefined)
    assert.equal(await after, registry.find('alice_1'))
    // What was wrong then is not remembered now.
    await accepts(verifier, 'new password')
  })

  it('costs one run more for an old password in each state of the registry', async () => {
    const { hasher, registry, verifier } = await setUp()
    for (let state = 0; state < 3; state++) {
      await registry.rotate('alice_1', `password ${state}`)
      for (let poll = 0; poll < 5; poll++) await verifier.verify('alice_1', PASSWORD)
    }
    assert.equal(hasher.verified.length, 3)
  })

  it('waits with its network, and names that exist have a place of their own', async () => {
    const { hasher, verifier } = await setUp()
    await verifier.verify('nobody_1', PASSWORD)
    await verifier.verify('alice_1', PASSWORD)
    const lane = TURN.network
    assert.deepEqual(hasher.places, [
      { lane, comesAgain: false, reservation: undefined },
      { lane, comesAgain: false, reservation: { username: 'alice_1', isAtUsualNetwork: false } },
    ])
  })

  it('tells the network where a device was seen last from all others', async () => {
    const { hasher, registry, device, verifier } = await setUp()
    const seenAt = (address: string) =>
      registry.noteSighting(device.id, { at: 7, address, client: undefined })
    const isAtUsualNetwork = async (network: string) => {
      await verifier.verify('alice_1', `wrong in ${network}`, { network, isDeferred: false })
      return hasher.places.at(-1)?.reservation?.isAtUsualNetwork
    }
    seenAt('192.0.2.7')
    assert.equal(await isAtUsualNetwork('192.0.2.7'), true)
    assert.equal(await isAtUsualNetwork('192.0.2.8'), false)
    seenAt('2001:db8:1:2::7')
    assert.equal(await isAtUsualNetwork('2001:db8:1:2'), true)
  })

  it('keeps no place where the password was wrong, until a credential changes', async () => {
    const { hasher, registry, verifier } = await setUp()
    const hasPlace = async (password: string, turn: Turn) => {
      await verifier.verify('alice_1', password, turn)
      return hasher.places.at(-1)?.reservation !== undefined
    }
    assert.equal(await hasPlace('wrong 1', TURN), true)
    assert.equal(await hasPlace('wrong 2', TURN), false)
    assert.equal(await hasPlace('wrong 3', ELSEWHERE), true, 'that says nothing about others')
    assert.equal(await hasPlace('wrong 4', ELSEWHERE), false)
    await registry.rotate('alice_1', 'new password')
    assert.equal(await hasPlace('wrong 5', TURN), true)
    assert.equal(await hasPlace('wrong 6', TURN), false)
  })

  it('does not forget a device that it turned away, however many names are made up', async () => {
    const { device, verifier } = await setUp()
    await assert.rejects(verifier.verify('alice_1', PASSWORD, DEFERRED), { code: 'VERIFIER_BUSY' })
    for (let index = 0; index < 5000; index++) {
      await assert.rejects(verifier.verify(`nobody_${index}`, 'wrong', DEFERRED))
    }
    assert.equal(await verifier.verify('alice_1', PASSWORD, DEFERRED), device)
  })

  it('turns deferred credentials away once, and not when they come again', async () => {
    const { hasher, device, verifier } = await setUp()
    await assert.rejects(verifier.verify('alice_1', PASSWORD, DEFERRED), { code: 'VERIFIER_BUSY' })
    await assert.rejects(verifier.verify('alice_1', 'wrong', DEFERRED), { code: 'VERIFIER_BUSY' })
    assert.deepEqual(hasher.verified, [])
    assert.equal(await verifier.verify('alice_1', PASSWORD, DEFERRED), device)
    assert.equal(await verifier.verify('alice_1', 'wrong', DEFERRED), undefined)
    assert.deepEqual(
      hasher.places.map(({ comesAgain }) => comesAgain),
      [true, true],
    )
  })

  it('defers neither what it knows, nor what is under way', async () => {
    const { hasher, device, verifier } = await setUp()
    const release = holdUp(hasher)
    const underWay = verifier.verify('alice_1', PASSWORD)
    const deferred = verifier.verify('alice_1', PASSWORD, DEFERRED)
    release()
    assert.deepEqual([await underWay, await deferred], [device, device])
    assert.equal(await verifier.verify('alice_1', PASSWORD, DEFERRED), device)
    assert.equal(await verifier.verify('alice_1', 'wrong'), undefined)
    assert.equal(await verifier.verify('alice_1', 'wrong', DEFERRED), undefined)
    assert.equal(hasher.verified.length, 2)
  })

  it('keeps a bounded number of those that it turned away, and forgets the oldest', async () => {
    const { hasher, verifier } = await setUp()
    for (let index = 0; index < 4097; index++) {
      await assert.rejects(verifier.verify('alice_1', `wrong ${index}`, DEFERRED))
    }
    assert.equal(await verifier.verify('alice_1', 'wrong 4096', DEFERRED), undefined)
    await assert.rejects(verifier.verify('alice_1', 'wrong 0', DEFERRED))
    assert.equal(hasher.verified.length, 1)
  })

  it('keeps a bounded number of wrong credentials, and forgets the oldest', async () => {
    const { hasher, verifier } = await setUp()
    const wrong = Array.from({ length: 1_025 }, (_, index) => `wrong ${index}`)
    for (const password of wrong) await verifier.verify('alice_1', password)
    await verifier.verify('alice_1', 'wrong 1024')
    assert.equal(hasher.verified.length, 1_025)
    await verifier.verify('alice_1', 'wrong 0')
    assert.equal(hasher.verified.length, 1_026)
  })

  it('remembers nothing of a run that failed, and lets everybody know who waited', async () => {
    const { hasher, verifier } = await setUp()
    hasher.gate = Promise.reject(new Error('the worker ended'))
    const all = [verifier.verify('alice_1', PASSWORD), verifier.verify('alice_1', PASSWORD)]
    const ends = await Promise.allSettled(all)
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    hasher.gate = Promise.resolve()
    await accepts(verifier, PASSWORD)
    // They have waited before.
    assert.deepEqual(
      hasher.places.map(({ comesAgain }) => comesAgain),
      [false, true],
    )
  })
})

describe('recall()', () => {
  it('tells what verifications found, at no cost', async () => {
    const { hasher, device, verifier } = await setUp()
    const pairs = [
      ['alice_1', PASSWORD],
      ['alice_1', 'wrong'],
      ['nobody_1', PASSWORD],
    ] as const
    const recall = () => pairs.map(([username, password]) => verifier.recall(username, password))
    assert.deepEqual(recall(), [undefined, undefined, undefined])
    for (const [username, password] of pairs) await verifier.verify(username, password)
    assert.deepEqual(recall(), [device, 'wrong', 'wrong'])
    assert.equal(hasher.verified.length, 3)
  })

  it('knows that overlong credentials are wrong', async () => {
    const { verifier } = await setUp()
    assert.equal(verifier.recall('alice_1', 'x'.repeat(257)), 'wrong')
    assert.equal(verifier.recall('x'.repeat(257), PASSWORD), 'wrong')
  })

  it('tells nothing of an earlier state of the registry', async () => {
    const { registry, verifier } = await setUp()
    await accepts(verifier, PASSWORD)
    assert.equal(await verifier.verify('alice_1', 'new password'), undefined)
    await registry.rotate('alice_1', 'new password')
    assert.equal(verifier.recall('alice_1', PASSWORD), undefined)
    assert.equal(verifier.recall('alice_1', 'new password'), undefined)
    await registry.revoke('alice_1')
    assert.equal(verifier.recall('alice_1', PASSWORD), undefined)
  })
})
