import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RefusedLogins } from '../../src/devices/refused-logins.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openTestDevices } from '../support/test-devices.ts'

async function open() {
  const [clock, logger] = [new FakeClock(), new CaptureLogger()]
  const devices = await openTestDevices(() => clock.now())
  const { device } = await devices.add({ kind: 'phone', username: 'my_phone' })
  const logins = new RefusedLogins({ devices, clock, logger })
  let changes = 0
  logins.onChange(() => (changes += 1))
  return { clock, logger, devices, device, logins, changes: () => changes }
}

describe('refused logins', () => {
  it('are counted for a device, with the last time and address', async () => {
    const { clock, logins, device } = await open()
    assert.equal(logins.of(device.id), undefined)
    assert.equal(logins.note('my_phone', '10.0.0.1'), device.id)
    clock.advance(1000)
    logins.note('my_phone', '10.0.0.2')
    const { count, lastAt, lastAddress } = logins.of(device.id) ?? {}
    assert.deepEqual([count, lastAt, lastAddress], [2, clock.now(), '10.0.0.2'])
  })

  it('of names that nobody has, and of ids, leave nothing', async () => {
    const { clock, logins, logger, device, changes } = await open()
    for (const name of ['nobody', 'MY_PHONE', device.id, '']) {
      assert.equal(logins.note(name, '10.0.0.1'), undefined)
    }
    clock.advance(120_000)
    assert.deepEqual([logins.of(device.id), logger.lines, changes()], [undefined, [], 0])
  })

  it('are told once in a while, however many there are', async () => {
    const { clock, logins, logger, device, changes } = await open()
    for (let count = 0; count < 1000; count++) logins.note('my_phone', '10.0.0.1')
    assert.deepEqual([logger.lines, changes()], [[], 0])
    clock.advance(250)
    assert.equal(changes(), 1)
    const fields = { device: device.id, times: 1000, address: '10.0.0.1' }
    const line = { level: 'warn', message: 'Logins were refused: the password', fields }
    assert.deepEqual(logger.lines, [line])

    logins.note('my_phone', '10.0.0.1')
    clock.advance(59_000)
    assert.deepEqual([logger.lines.length, changes()], [1, 2])
    clock.advance(1000)
    assert.deepEqual(logger.lines[1], { ...line, fields: { ...fields, times: 1 } })
    clock.advance(600_000)
    assert.equal(logger.lines.length, 2)
  })

  it('are told at the end, those that were not told before', async () => {
    const { clock, logins, logger, device } = await open()
    logins.note('my_phone', '10.0.0.1')
    clock.advance(250)
    for (const address of ['10.0.0.2', '10.0.0.3']) logins.note('my_phone', address)
    logins.close()
    const told = logger.lines.map(({ fields }) => fields)
    assert.deepEqual(told, [
      { device: device.id, times: 1, address: '10.0.0.1' },
      { device: device.id, times: 2, address: '10.0.0.3' },
    ])
  })

  it('are forgotten when the password ends, and not when another device has one', async () => {
    const { clock, logins, devices, device } = await open()
    const other = await devices.add({ kind: 'phone', username: 'other_phone' })
    for (const name of ['my_phone', 'other_phone']) logins.note(name, '10.0.0.1')
    await devices.rotate('my_phone')
    await devices.revoke('other_phone')
    assert.equal(logins.of(device.id), undefined)
    assert.equal(logins.of(other.device.id), undefined)
    logins.note('my_phone', '10.0.0.1')
    assert.equal(logins.of(device.id)?.count, 1)
    logins.close()
    clock.advance(600_000)
  })
})
