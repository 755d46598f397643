/**
 * Prints the tag of a password, as a worker of this Node derives it. Its worker is never idle for
 * long enough to be ended.
 * @module
 */

import { Argon2Pool } from '../../../src/devices/argon2-pool.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const pool = new Argon2Pool({ clock: new FakeClock() })
const job = {
  password: toBytes(process.argv[2] ?? ''),
  salt: toBytes('sixteen-byte-sal'),
  memoryKib: 256,
  passes: 2,
  parallelism: 2,
  tagLength: 32,
}
console.log(Buffer.from(await pool.derive(job, 'urgent')).toString('hex'))
await pool.close()
