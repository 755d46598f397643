/**
 * When, where and as what each device was seen last.
 *
 * Beside the devices, because it changes with every request: noting one allocates nothing.
 * @module
 */

import type { Device, Dialect, Sighting } from '../ports/device-registry.ts'

/** Longer names of clients tell nothing more. */
const MAX_CLIENT_LENGTH = 200

interface LastSighting {
  at: number
  address: string | undefined
  client: string | undefined
  dialect: Dialect | undefined
  reads: Dialect | undefined
  usesOldKeys: boolean | undefined
}

/** The last sighting of each device. */
export class Sightings {
  readonly #byId = new Map<string, LastSighting>()

  /** Notes a sighting of a device that exists. @returns Whether it is the first one ever. */
  note(device: Device, { at, address, client, dialect, reads, usesOldKeys }: Sighting): boolean {
    let last = this.#byId.get(device.id)
    const isFirst = last === undefined && device.lastSeenAt === undefined
    if (last === undefined) {
      const { dialect: known, reads: learnt, usesOldKeys: old } = device
      const before = { dialect: known, reads: learnt, usesOldKeys: old }
      last = { at, address: undefined, client: undefined, ...before }
      this.#byId.set(device.id, last)
    }
    last.at = at
    last.address = address
    last.client = client === undefined ? undefined : shorten(client)
    if (dialect !== undefined) last.dialect = dialect
    if (reads !== undefined) last.reads = reads
    if (usesOldKeys !== undefined) last.usesOldKeys = usesOldKeys
    return isFirst
  }

  /** The device with what was noted about it. */
  merge(device: Device): Device {
    const last = this.#byId.get(device.id)
    if (last === undefined) return device
    return {
      ...device,
      lastSeenAt: last.at,
      lastSeenAddress: last.address,
      lastClient: last.client,
      dialect: last.dialect,
      reads: last.reads,
      usesOldKeys: last.usesOldKeys,
    }
  }

  forget(deviceId: string): void {
    this.#byId.delete(deviceId)
  }
}

function shorten(client: string): string {
  if (client.length <= MAX_CLIENT_LENGTH) return client
  return client.slice(0, MAX_CLIENT_LENGTH).toWellFormed()
}
