/**
 * Collects garbage at once, so that a test can tell what is still held from what is not.
 * @module
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function collectGarbage(): void {
  // Also in a process that was started without the flag.
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('This Node does not collect on demand')
  collect()
}
