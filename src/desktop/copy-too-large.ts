/**
 * The failure of a copy that is larger than what is shared. Its message is for people: it says the
 * kind and the size, and nothing of the content.
 *
 * @module
 */

import { GIB, KIB, MIB } from '../core/limits.ts'
import type { CopiedContent } from '../ports/system-clipboard.ts'

export interface TooLarge {
  readonly maxBytes: number
  /** As far as it is known: at least this. */
  readonly size: number
  readonly kind?: CopiedContent['kind']
}

export class CopyTooLarge extends Error {
  readonly maxBytes: number
  readonly size: number

  constructor({ maxBytes, size, kind }: TooLarge) {
    const what = kind === undefined ? '' : `${kind}, `
    const found = `(${what}at least ${formatBytes(size)})`
    super(`What was copied is larger than ${formatBytes(maxBytes)}: not shared ${found}`)
    this.name = 'CopyTooLarge'
    this.maxBytes = maxBytes
    this.size = size
  }
}

/** Rounded down, so that "at least" is true. */
function formatBytes(size: number): string {
  if (size < KIB) return `${size} bytes`
  const [unit, name] = size < MIB ? [KIB, 'KiB'] : size < GIB ? [MIB, 'MiB'] : [GIB, 'GiB']
  return `${Math.floor((10 * size) / unit) / 10} ${name}`
}
