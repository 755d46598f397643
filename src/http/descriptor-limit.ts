/**
 * Keeps connections from using up all descriptors: without one left nobody gets in, not even the
 * owner, and no file can be opened.
 * @module
 */

import { readFileSync } from 'node:fs'

/** The process may have three listeners, and a request may need a file besides its connection. */
const SHARE = 4

/**
 * How many connections a listener can afford; `Infinity` where nobody tells.
 *
 * @param limits Text of `/proc/<pid>/limits`; that of this process unless given.
 */
export function affordableConnections(limits: string = readLimits()): number {
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return limit === undefined ? Infinity : Math.floor(Number(limit) / SHARE)
}

function readLimits(): string {
  // On Windows this would be a path that everybody may make.
  if (process.platform !== 'linux') return ''
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Hidden from us. Node has raised the limit as far as it may.
    return ''
  }
}
