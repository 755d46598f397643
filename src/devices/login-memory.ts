/**
 * Memory that a login takes, and what a control group leaves of its limit. Beyond that the kernel
 * ends the program without a word.
 * @module
 */

import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { MIB } from '../core/limits.ts'
import { formatBytes } from '../lib/format-bytes.ts'

/**
 * Bytes that have to be left for a login when none was for a while: 64 MiB of Argon2id, a thread,
 * and its tables in the kernel are 70; the heap goes up and down by the rest.
 */
export const LOGIN_BYTES: number = 74 * MIB

/** Bytes that files take that come: a worker that hashes, and pieces on their way to the disk. */
export const UPLOAD_BYTES: number = 32 * MIB

/** With this limit a login and the longest texts have room at the same time. */
export const EASY_BYTES: number = 320 * MIB

/** Below this limit a login takes all that an idle program leaves. */
const LEAST_BYTES: number = 96 * MIB

/** A limit, in bytes. */
export interface MemoryRoom {
  readonly limit: number
  /** The part of it that this process may still take. */
  readonly left: number
}

/**
 * Reads how much memory this process may still take.
 *
 * What files keep in memory is not counted: the kernel gives that back first. Where there is swap,
 * a group may use it, unless it says otherwise.
 *
 * @returns `undefined` where nothing limits it but the machine.
 */
export function readMemoryRoom(): MemoryRoom | undefined {
  const limit = process.constrainedMemory()
  // Node has several ways to say that there is none.
  if (!(limit > 0 && limit < totalmem())) return undefined
  const taken = readKib('/proc/self/status', 'RssAnon')
  return taken === undefined ? undefined : { limit, left: limit - taken + readSwap() }
}

/**
 * Bytes that may be kept although logins need theirs: a quarter of what a limit has beyond the
 * least, since nothing takes them back for a login.
 */
export function affordableBytes(
  most: number,
  room: MemoryRoom | undefined = readMemoryRoom(),
): number {
  if (room === undefined) return most
  return Math.min(most, Math.max(MIB, Math.floor((room.limit - LEAST_BYTES) / 4)))
}

/** Says when each login would end in a refusal. */
export function warnOfShortMemory(): string | undefined {
  const room = readMemoryRoom()
  if (room === undefined || room.left >= LOGIN_BYTES) return undefined
  const [needed, left, limit] = [LOGIN_BYTES, Math.max(0, room.left), room.limit].map((size) =>
    formatBytes(size),
  )
  return (
    `Logins need ${needed} of memory, and ${left} are left of the limit of ${limit}: they are ` +
    'refused; raise the limit to 112 MiB at least, 192 for the longest texts'
  )
}

function readSwap(): number {
  const free = readKib('/proc/meminfo', 'SwapFree') ?? 0
  const [, group] = /^0::(.*)$/m.exec(read('/proc/self/cgroup')) ?? []
  const max = read(`/sys/fs/cgroup${group ?? ''}/memory.swap.max`).trim()
  return /^\d+$/.test(max) ? Math.min(free, Number(max)) : free
}

function readKib(path: string, name: string): number | undefined {
  const [, kib] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(read(path)) ?? []
  return kib === undefined ? undefined : Number(kib) * 1024
}

/** Empty where there is no such file: other systems, and other versions of control groups. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
