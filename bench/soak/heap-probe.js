/**
 * Loaded into the daemon under soak: collects all garbage and tells how much is left, on descriptor
 * 3, whenever it is asked to by a signal. Does nothing else.
 * @module
 */

import { writeSync } from 'node:fs'

process.on('SIGURG', () => {
  for (let round = 0; round < 3; round++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  writeSync(3, `${JSON.stringify({ heapUsed, external })}\n`)
})
