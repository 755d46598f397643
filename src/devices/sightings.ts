/**
 * When, where and as what each device was seen last.
 *
 * Beside the devices, because it changes with every request: noting one allocates nothing.
 * @module
 */

import { networkOf } from '../lib/network-of.ts'
import type { Device, Dialect, Sighting } from '../ports/device-registry.ts'

/** Longer names of clients tell nothing more. */
const MAX_CLIENT_LENGTH = 200

/** A device is at home, at work and on the way; of one that is everywhere, the latest are kept. */
const MAX_NETWORKS = 16

/** How the client of a device is answered: each stays until a request says something else. */
interface Learnt {
  dialect?: Dialect | undefined
  reads?: Dialect | undefined
  usesOldKeys?: boolean | undefined
  isExact?: boolean | undefined
}

const LEARNT = ['dialect', 'reads', 'usesOldKeys', 'isExact'] as const

interface LastSighting {
  at: number
  address: string | undefined
  /** Where it was, the latest last. */
  readonly networks: Set<string>
  client: string | undefined
  readonly learnt: Learnt
}

/** In what a sighting differs from all before it. */
export interface Novelty {
  /** The device was never seen before. */
  readonly isFirst: boolean
  /** It was not seen at this address, or in its IPv6 network, as far as that is remembered. */
  readonly isNewAddress: boolean
  /** Something was learnt of how its client is answered. */
  readonly isLearnt: boolean
}

const NOTHING_NEW: Novelty = { isFirst: false, isNewAddress: false, isLearnt: false }

/** The last sighting of each device. */
export class Sightings {
  readonly #byId = new Map<string, LastSighting>()

  /** Notes a sighting of a device that exists. @returns What is new about it. */
  note(device: Device, sighting: Sighting): Novelty {
    const { at, address, client } = sighting
    let last = this.#byId.get(device.id)
    const isFirst = last === undefined && device.lastSeenAt === undefined
    if (last === undefined) {
      last = { at, address: undefined, client: undefined, networks: new Set(), learnt: {} }
      learn(last.learnt, device)
      this.#byId.set(device.id, last)
      if (device.lastSeenAddress !== undefined) noteNetwork(last, device.lastSeenAddress)
    }
    last.at = at
    const isNewAddress = noteNetwork(last, address)
    last.address = address
    last.client = client === undefined ? undefined : shorten(client)
    const isLearnt = learn(last.learnt, sighting)
    if (!isFirst && !isNewAddress && !isLearnt) return NOTHING_NEW
    return { isFirst, isNewAddress, isLearnt }
  }

  /** The device with what was noted about it. */
  merge(device: Device): Device {
    const last = this.#byId.get(device.id)
    if (last === undefined) return device
    return {
      ...device,
      ...last.learnt,
      lastSeenAt: last.at,
      lastSeenAddress: last.address,
      lastClient: last.client,
    }
  }

  forget(deviceId: string): void {
    this.#byId.delete(deviceId)
  }
}

/** @returns Whether something of it is new. */
function learn(known: Learnt, told: Readonly<Learnt>): boolean {
  let isNew = false
  for (const key of LEARNT) if (learnOne(known, told, key)) isNew = true
  return isNew
}

function learnOne<Key extends keyof Learnt>(known: Learnt, told: Learnt, key: Key): boolean {
  const value = told[key]
  // Nothing is learnt from what everybody does.
  if (value === undefined || value === (known[key] ?? false)) return false
  known[key] = value
  return true
}

/** @returns Whether the network of the address is not among those that are remembered. */
function noteNetwork({ address: before, networks }: LastSighting, address?: string): boolean {
  if (address === undefined || address === before) return false
  const network = networkOf(address)
  const isNew = !networks.delete(network)
  networks.add(network)
  const [oldest] = networks
  if (networks.size > MAX_NETWORKS && oldest !== undefined) networks.delete(oldest)
  return isNew
}

function shorten(client: string): string {
  if (client.length <= MAX_CLIENT_LENGTH) return client
  return client.slice(0, MAX_CLIENT_LENGTH).toWellFormed()
}
