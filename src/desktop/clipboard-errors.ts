/**
 * Why a clipboard could not be read or written, where it makes a difference. Messages are for
 * people, and quote nothing of the content.
 * @module
 */

import { GIB, KIB, MIB } from '../core/limits.ts'
import { codeOf } from '../lib/system-error.ts'
import type { CopiedContent } from '../ports/system-clipboard.ts'

/** The clipboard is away: its adapter has said so, and says when it is back. */
export class OutOfReach extends Error {
  override readonly name = 'OutOfReach'
}

/** The clipboard of the desktop cannot be used yet, and any other one would be stale. */
export class UnusableYet extends Error {
  override readonly name = 'UnusableYet'
}

/** Another program has the clipboard open, and lets nobody else read or write it meanwhile. */
export class ClipboardHeld extends OutOfReach {
  constructor() {
    super('Another program holds the clipboard')
  }
}

interface TooLarge {
  readonly maxBytes: number
  /** As far as it is known, in bytes: at least this. */
  readonly size: number
  readonly kind?: CopiedContent['kind']
}

/** A copy is larger than what is shared. */
export class CopyTooLarge extends Error {
  override readonly name = 'CopyTooLarge'
  readonly maxBytes: number
  readonly size: number

  constructor({ maxBytes, size, kind }: TooLarge) {
    const what = kind === undefined ? '' : `${kind}, `
    const found = `(${what}at least ${formatAtLeast(size)})`
    super(`What was copied is larger than ${formatAtLeast(maxBytes)}: not shared ${found}`)
    this.maxBytes = maxBytes
    this.size = size
  }
}

/** Rounded down, unlike `formatBytes`, so that "at least" is true. */
function formatAtLeast(size: number): string {
  if (size < KIB) return `${size} bytes`
  const [unit, name] = size < MIB ? [KIB, 'KiB'] : size < GIB ? [MIB, 'MiB'] : [GIB, 'GiB']
  return `${Math.floor((10 * size) / unit) / 10} ${name}`
}

/** Why a program that the clipboard takes could not be started. */
export function describeStart(name: string, error: Error): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return `"${name}" is not installed`
  return `Cannot start "${name}": ${code ?? 'unknown error'}`
}
