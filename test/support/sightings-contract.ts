/** What every {@link DeviceRegistry} does about sightings. @module */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { DeviceRegistry } from '../../src/ports/device-registry.ts'

/** Part of `describeDeviceRegistry()`. */
export function describeSightings(open: (t: TestContext) => Promise<DeviceRegistry>): void {
  describe('noteSighting()', () => {
    const at = Date.UTC(2026, 5, 1)

    it('shows in find() and list(), and leaves the revision alone', async (t) => {
      const registry = await open(t)
      const { device } = await registry.add({ kind: 'phone' })
      const { revision } = registry
      const dialect = 'sync'
      registry.noteSighting(device.id, { at, address: '10.0.0.7', client: 'app/1', dialect })
      const last = { lastSeenAt: at, lastSeenAddress: '10.0.0.7', lastClient: 'app/1' }
      const seen = { ...device, ...last, dialect }
      assert.deepEqual(registry.find(device.username), seen)
      assert.deepEqual(registry.list(), [seen])
      assert.equal(registry.revision, revision)
    })

    it('keeps the keys that an earlier push told', async (t) => {
      const registry = await open(t)
      const { device } = await registry.add({ kind: 'phone' })
      const sighting = { at, address: undefined, client: undefined }
      for (const usesOldKeys of [true, false]) {
        registry.noteSighting(device.id, { ...sighting, usesOldKeys })
        registry.noteSighting(device.id, sighting)
        assert.equal(registry.find(device.id)?.usesOldKeys, usesOldKeys)
      }
    })

    it('keeps the dialect that an earlier request told', async (t) => {
      const registry = await open(t)
      const { device } = await registry.add({ kind: 'phone' })
      const sighting = { at, address: undefined, client: undefined }
      registry.noteSighting(device.id, { ...sighting, dialect: 'syncclipboard' })
      registry.noteSighting(device.id, { ...sighting, at: at + 1 })
      const { lastSeenAt, dialect } = registry.find(device.id) ?? {}
      assert.deepEqual({ lastSeenAt, dialect }, { lastSeenAt: at + 1, dialect: 'syncclipboard' })
    })

    it('survives a rotation', async (t) => {
      const registry = await open(t)
      const { device } = await registry.add({ kind: 'phone' })
      registry.noteSighting(device.id, { at, address: undefined, client: undefined })
      const rotated = await registry.rotate(device.id)
      assert.equal(rotated.device.lastSeenAt, at)
      assert.equal(registry.find(device.id)?.lastSeenAt, at)
    })

    it('cuts the name of the client to a sane length', async (t) => {
      const registry = await open(t)
      const { device } = await registry.add({ kind: 'phone' })
      const client = `${'x'.repeat(199)}🧀${'y'.repeat(8000)}`
      registry.noteSighting(device.id, { at, address: undefined, client })
      const { lastClient = '' } = registry.find(device.id) ?? {}
      assert.equal(lastClient.startsWith('x'.repeat(199)), true)
      assert.equal(lastClient.length <= 200 && lastClient.isWellFormed(), true)
    })

    it('ignores devices that are gone', async (t) => {
      const registry = await open(t)
      const { device } = await registry.add({ kind: 'phone' })
      await registry.revoke(device.id)
      registry.noteSighting(device.id, { at, address: undefined, client: undefined })
      assert.deepEqual(registry.list(), [])
    })
  })
}
