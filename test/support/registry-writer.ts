/**
 * A program of its own: changes the devices in the file that its argument names, without end, and
 * prints a line before and after each change. Somebody is expected to kill it.
 * @module
 */

import { writeSync } from 'node:fs'
import { JsonDeviceRegistry } from '../../src/devices/json-device-registry.ts'
import { CaptureLogger } from './capture-logger.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeHasher } from './fake-hasher.ts'

const [path = ''] = process.argv.slice(2)
const registry = await JsonDeviceRegistry.open({
  path,
  hasher: new FakeHasher(),
  clock: new FakeClock(),
  logger: new CaptureLogger(),
})

for (let round = 0; ; round++) {
  const username = `device_${round % 20}`
  say({ username })
  const known = registry.find(username)
  if (known === undefined) {
    const { device } = await registry.add({ kind: 'phone', username })
    say({ username, passwordHash: device.passwordHash })
  } else if (round % 3 === 0) {
    await registry.revoke(username)
    say({ username, passwordHash: 'none' })
  } else {
    const { device } = await registry.rotate(username)
    say({ username, passwordHash: device.passwordHash })
  }
}

interface Line {
  readonly username: string
  readonly passwordHash?: string | undefined
}

/** Synchronous: what was said before a kill has been said. */
function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}
