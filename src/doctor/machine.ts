/**
 * The machine that the checks run on, as far as they read it; tests bring their own.
 * @module
 */

import { createSocket } from 'node:dgram'
import type { StatsFs } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type NetworkInterfaces, readInterfaces } from '../daemon/addresses.ts'
import type { Surroundings } from '../daemon/folders.ts'

/** The room of a file system as `statfs` tells it, in blocks and files; some count no files. */
export type DiskNumbers = Pick<StatsFs, 'bsize' | 'bavail' | 'files' | 'ffree'>

/** A machine to look at. */
export interface Machine extends Pick<Surroundings, 'platform' | 'environment'> {
  /** Where files of the system are: `/`. */
  readonly root: string
  interfaces(): NetworkInterfaces
  /** The own address from which packets leave for the internet; `undefined` where none would. */
  sourceAddress(): Promise<string | undefined>
  statfs(path: string): Promise<DiskNumbers>
  /** Unix milliseconds. */
  now(): number
  /** Bytes that this program could still take, limits of containers included. */
  availableMemory(): number
}

/** The machine that this program runs on. */
export function ownMachine({ platform, environment }: Surroundings): Machine {
  return {
    platform,
    environment,
    root: '/',
    interfaces: readInterfaces,
    sourceAddress: findSourceAddress,
    statfs: (path) => statfs(path),
    now: Date.now,
    availableMemory: () => process.availableMemory(),
  }
}

/** An address for documentation (RFC 5737), and a port that discards what it gets. */
const ELSEWHERE = { address: '192.0.2.1', port: 9 }

/** Asks the system for the route to somewhere else: connecting a socket for UDP sends nothing. */
function findSourceAddress(): Promise<string | undefined> {
  const socket = createSocket('udp4')
  const found = new Promise<string | undefined>((resolve) => {
    socket.once('error', () => resolve(undefined))
    const { port, address } = ELSEWHERE
    socket.connect(port, address, () => resolve(socket.address().address))
  })
  return found.finally(() => socket.close())
}

/** The text of a file of the system; `undefined` when it is missing, or hidden from this user. */
export async function readSystemFile({ root }: Machine, path: string): Promise<string | undefined> {
  try {
    return await readFile(join(root, path), 'latin1')
  } catch {
    // Another system, or hidden from us: either way it cannot be known.
    return undefined
  }
}
