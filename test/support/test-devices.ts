/** The registry of the daemon, with hashes that cost nothing: tests pair devices by the dozen. @module */

import { join } from 'node:path'
import { JsonDeviceRegistry } from '../../src/devices/json-device-registry.ts'
import { CaptureLogger } from './capture-logger.ts'
import { FakeHasher } from './fake-hasher.ts'
import { folderForAll } from './temporary-folder.ts'

/** Opens one without devices. When they were seen is not saved. */
export async function openTestDevices(
  now: () => number = Date.now,
  hasher: FakeHasher = new FakeHasher(),
): Promise<JsonDeviceRegistry> {
  return JsonDeviceRegistry.open({
    path: join(await folderForAll(), 'devices.json'),
    hasher,
    clock: { now, monotonic: () => 0, after: () => () => undefined },
    logger: new CaptureLogger(),
  })
}
