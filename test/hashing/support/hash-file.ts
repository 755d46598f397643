/** Prints the BLAKE3 of a file. Its worker is never idle for long enough to be ended. @module */

import { open } from 'node:fs/promises'
import { FileHasher } from '../../../src/hashing/file-hasher.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const file = await open(process.argv[2] ?? '')
const hash = new FileHasher({ clock: new FakeClock() }).start(file)
hash.add(await file.readFile())
const { blake3 } = await hash.finish()
await file.close()
console.log(blake3)
