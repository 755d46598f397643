/**
 * The machine that the checks run on, as far as they read it; tests bring their own.
 * @module
 */

import { createSocket } from 'node:dgram'
import { readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type NetworkInterfaces, readInterfaces } from '../daemon/addresses.ts'
import type { Surroundings } from '../daemon/folders.ts'

/** The room of a file system as `statfs` tells it, in blocks and files. */
export interface DiskNumbers {
  readonly bsize: number
  readonly bavail: number
  /** 0 where the file system does not count them. */
  readonly files: number
  readonly ffree: number
}

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
    statfs: async (path) => statfs(path),
    now: () => Date.now(),
    availableMemory: () => process.availableMemory(),
  }
}

/** An address for documentation (RFC 5737), and a port that discards what it gets. */
const ELSEWHERE = ['192.0.2.1', 9] as const

/** Asks the system for the route to somewhere else: connecting a socket for UDP sends nothing. */
function findSourceAddress(): Promise<string | undefined> {
  const [address, port] = ELSEWHERE
  const socket = createSocket('udp4')
  const found = new Promise<string | undefined>((resolve) => {
    socket.once('error', () => resolve(undefined))
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
