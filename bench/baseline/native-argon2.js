/**
 * Derives one Argon2id tag natively, as the first login of a process would, and prints how many
 * milliseconds that took.
 *
 * The argument is a folder in which the package `@node-rs/argon2` is installed; without one it is
 * `node:crypto`, since Node 24.7.
 * @module
 */

import * as crypto from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * The types of Node 20 do not know it.
 *
 * @type {typeof crypto & { argon2Sync?: (algorithm: string, parameters: object) => Uint8Array }}
 */
const { argon2Sync } = crypto

/** Those of the daemon. */
const PARAMETERS = { memory: 65_536, passes: 3, parallelism: 4, tagLength: 32 }

const password = Buffer.from('correct horse battery staple')
const salt = crypto.randomBytes(16)
const run = prepare(process.argv[2])
const start = performance.now()
await run()
process.stdout.write(`${performance.now() - start}\n`)

/**
 * @param {string | undefined} folder
 * @returns {() => unknown}
 */
function prepare(folder) {
  if (folder === undefined) {
    return () => argon2Sync?.('argon2id', { message: password, nonce: salt, ...PARAMETERS })
  }
  const { memory, passes, parallelism, tagLength } = PARAMETERS
  const { hashRaw } = createRequire(join(folder, 'package.json'))('@node-rs/argon2')
  const options = { memoryCost: memory, timeCost: passes, parallelism, outputLen: tagLength, salt }
  return () => hashRaw(password, options)
}
