import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatDeviceFile, parseDeviceFile } from '../../src/devices/device-file.ts'
import type { Device } from '../../src/ports/device-registry.ts'
import { NEVER_SEEN } from '../support/many-devices.ts'
import fc, { forAll } from '../support/property.ts'

const HASH =
  '$argon2id$v=19$m=65536,t=3,p=4$Y2xpcGdhdGUtMTZieXRlcw$2eVTs9FfyvYN9P4CF1nV0FiDmYwx6NBC1o8WkbOlKv0'

const DEVICE: Device = {
  id: `did_${'0'.repeat(32)}`,
  kind: 'phone',
  label: 'Pixel',
  username: 'alice_1',
  passwordHash: HASH,
  createdAt: 1_700_000_000_000,
  ...NEVER_SEEN,
}

const DIGITS = fc.constantFrom(...'0123456789abcdef')
const hex = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: DIGITS, minLength: length, maxLength: length })
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined })
const time = fc.nat(8.64e15)

const devices: fc.Arbitrary<Device> = fc.record(
  {
    id: hex(32).map((digits) => `did_${digits}`),
    kind: fc.constantFrom('phone', 'peer'),
    label: fc.constantFrom('Pixel', 'Käse 🧀', '\u202eright to left', '__proto__'),
    username: hex(8).map((digits) => `mobile_${digits}`),
    passwordHash: fc.constantFrom(HASH, undefined),
    createdAt: time,
    lastSeenAt: maybe(time),
    lastSeenAddress: maybe(fc.ipV6()),
    lastClient: maybe(fc.string({ unit: 'binary', maxLength: 40 })),
    dialect: fc.constantFrom('sync', 'syncclipboard', undefined),
    reads: fc.constantFrom('sync', 'syncclipboard', undefined),
    usesOldKeys: fc.constantFrom(true, false, undefined),
    isExact: fc.constantFrom(true, false, undefined),
    linkUrl: fc.constantFrom('http://10.0.0.7:42720', undefined),
  },
  { noNullPrototype: true },
)

/** Devices of which each field is mostly right, and may be absent or anything. */
const almostDevices: fc.Arbitrary<unknown> = fc.record(
  Object.fromEntries(
    Object.entries(DEVICE).map(([key, value]) => [
      key,
      fc.oneof({ weight: 8, arbitrary: fc.constant(value) }, fc.jsonValue()),
    ]),
  ),
  { requiredKeys: [] },
)

function refuses(file: unknown, pattern: RegExp): void {
  assert.throws(() => parseDeviceFile(JSON.stringify(file)), { message: pattern })
}

describe('parseDeviceFile()', () => {
  it('undoes formatDeviceFile()', () => {
    const lists = fc.uniqueArray(devices, { selector: ({ username }) => username, maxLength: 5 })
    forAll(lists, (list) => {
      assert.deepEqual(parseDeviceFile(formatDeviceFile(list)), list)
    })
  })

  it('names the field that is wrong', () => {
    const wrong: Readonly<Record<string, readonly unknown[]>> = {
      id: [undefined, null, 7, '', 'did_1', `did_${'G'.repeat(32)}`],
      kind: [undefined, 'tablet', 1],
      label: [undefined, '', ' padded ', 'x'.repeat(65), 'a\nb', 7],
      username: [undefined, 'alice', 'alice-1', 7],
      passwordHash: [null, '', 'plaintext', HASH.replace('65536', '67108864')],
      createdAt: [undefined, -1, 1.5, 8.64e15 + 1, '2026', 1e300],
      lastSeenAt: [null, -1, '2026'],
      lastSeenAddress: [null, 7],
      lastClient: [null, {}],
      dialect: [null, 'latin'],
    }
    for (const [key, values] of Object.entries(wrong)) {
      for (const value of values) {
        const file = { version: 1, devices: [DEVICE, { ...DEVICE, [key]: value }] }
        refuses(file, new RegExp(`"devices\\[1\\]\\.${key}"`))
      }
    }
  })

  it('refuses files of another shape or version', () => {
    refuses([], /must be an object/)
    refuses('text', /must be an object/)
    refuses({ devices: [] }, /"version" must be a number/)
    refuses({ version: '1', devices: [] }, /"version" must be a number/)
    refuses({ version: 0, devices: [] }, /"version" must be 1/)
    refuses({ version: 2, devices: [] }, /newer version/)
    refuses({ version: 1 }, /"devices" must be an array/)
    refuses({ version: 1, devices: {} }, /"devices" must be an array/)
    refuses({ version: 1, devices: [DEVICE, null] }, /"devices\[1\]" must be an object/)
    assert.throws(() => parseDeviceFile(''), TypeError)
  })

  it('refuses two devices that could not be told apart', () => {
    refuses({ version: 1, devices: [DEVICE, { ...DEVICE, username: 'alice_2' }] }, /one "id"/)
    const other = { ...DEVICE, id: `did_${'1'.repeat(32)}` }
    refuses({ version: 1, devices: [DEVICE, other] }, /one "username"/)
  })

  it('never quotes the file, whose hashes are nobody else’s business', () => {
    const text = formatDeviceFile([DEVICE])
    for (let end = 0; end < text.length - 1; end++) {
      try {
        parseDeviceFile(text.slice(0, end))
        assert.fail(`Took ${end} of ${text.length} characters`)
      } catch (error) {
        assert.ok(error instanceof TypeError, String(error))
        assert.equal(error.cause, undefined)
        assert.doesNotMatch(error.message, /argon2/)
      }
    }
  })

  it('takes or refuses any JSON, and nothing else happens', () => {
    const version = fc.constant(1)
    const shapes = fc.oneof(
      fc.jsonValue(),
      fc.record({ version, devices: fc.array(fc.jsonValue()) }),
      fc.record({ version, devices: fc.array(almostDevices) }),
    )
    forAll(shapes, (value) => {
      try {
        const list = parseDeviceFile(JSON.stringify(value))
        assert.deepEqual(parseDeviceFile(formatDeviceFile(list)), list)
      } catch (error) {
        assert.ok(error instanceof TypeError, String(error))
      }
    })
  })
})
