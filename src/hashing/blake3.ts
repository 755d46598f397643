/**
 * BLAKE3, from a package that is loaded when the first hash is wanted.
 *
 * @module
 */

import { createRequire } from 'node:module'
import type { IHasher } from 'hash-wasm'

const require = createRequire(import.meta.url)

// Found now and loaded later: Node remembers a search that failed for want of descriptors.
const PACKAGE = require.resolve('hash-wasm')

/** A fresh, initialised hasher. Its calls are synchronous. */
export function createBlake3(): Promise<IHasher> {
  // `require` costs a third of `import` here, in time and in memory.
  const { createBLAKE3 }: typeof import('hash-wasm') = require(PACKAGE)
  return createBLAKE3()
}
