import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeDeviceRegistry } from '../support/device-registry-contract.ts'
import { FakeVerifier } from '../support/fake-verifier.ts'
import { MemoryDeviceRegistry } from '../support/memory-device-registry.ts'

describeDeviceRegistry('MemoryDeviceRegistry', async () => new MemoryDeviceRegistry())

describe('FakeVerifier', () => {
  it('accepts the password of a device, until it is rotated', async () => {
    const registry = new MemoryDeviceRegistry()
    const verifier = new FakeVerifier(registry)
    const { device, password } = await registry.add({ kind: 'phone' })
    assert.deepEqual(await verifier.verify(device.username, password), device)
    assert.equal(await verifier.verify(device.id, password), undefined)
    assert.equal(await verifier.verify(device.username, 'another'), undefined)
    await registry.rotate(device.id)
    assert.equal(await verifier.verify(device.username, password), undefined)
    assert.equal(verifier.calls, 4)
  })

  it('is busy when the test says so', async () => {
    const verifier = new FakeVerifier(new MemoryDeviceRegistry())
    verifier.isBusy = true
    await assert.rejects(verifier.verify('alice_1', 'password'), { code: 'VERIFIER_BUSY' })
  })
})
