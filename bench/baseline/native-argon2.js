/**
 * Derives one Argon2id tag natively, as the first login of a process would, and prints how many
 * milliseconds that took: `{ ms, cpuMs }`, by the clock and of processor time.
 *
 * By `node:crypto`, since Node 24.7; before, by the package `@node-rs/argon2`, which is installed in
 * the folder of the first argument. The second one is the cost, `{ memoryKib, passes, parallelism }`.
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

const TAG_BYTES = 32

const [folder = '.', cost = ''] = process.argv.slice(2)

/** @type {import('../../src/devices/phc-string.ts').Argon2Parameters} */
const { memoryKib, passes, parallelism } = JSON.parse(cost)

const password = Buffer.from('correct horse battery staple')
const salt = crypto.randomBytes(16)
const run = prepare()
const [start, before] = [performance.now(), process.cpuUsage()]
await run()
const [ms, { user, system }] = [performance.now() - start, process.cpuUsage(before)]
process.stdout.write(JSON.stringify({ ms, cpuMs: (user + system) / 1000 }))

/** @returns {() => unknown} */
function prepare() {
  if (argon2Sync !== undefined) {
    const own = { message: password, nonce: salt, memory: memoryKib, passes, parallelism }
    return () => argon2Sync('argon2id', { ...own, tagLength: TAG_BYTES })
  }
  const { hashRaw } = createRequire(join(folder, 'package.json'))('@node-rs/argon2')
  const options = { memoryCost: memoryKib, timeCost: passes, parallelism, outputLen: TAG_BYTES, salt }
  return () => hashRaw(password, options)
}
