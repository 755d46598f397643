/**
 * The paired devices at one moment, found by id or user name.
 *
 * @module
 */

import type { Device } from '../ports/device-registry.ts'

/** Devices in the order of pairing. */
export class PairedDevices {
  readonly list: readonly Device[]
  readonly #byName: ReadonlyMap<string, Device>

  constructor(list: readonly Device[]) {
    this.list = list
    // No user name is as long as an id.
    this.#byName = new Map(
      list.flatMap((device) => [
        [device.id, device],
        [device.username, device],
      ]),
    )
  }

  find(idOrUsername: string): Device | undefined {
    return this.#byName.get(idOrUsername)
  }
}
