/**
 * A program on a data directory, for tests that need one to fill a disk, or to have system calls
 * fail.
 *
 * `storage-program.ts FOLDER COMMAND...` obeys, and prints one line for each command:
 *
 * - `file:TEXT`, `text:TEXT` make an item current,
 * - `size:N` receives and discards N bytes.
 * @module
 */

import { writeSync } from 'node:fs'
import { systemClock } from '../../../src/lib/clock.ts'
import { openDataDirectory } from '../../../src/storage/home/data-directory.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { streamOf } from '../../support/byte-streams.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { fileItem, textItem } from '../../support/latest-item-contract.ts'

const [folder = '', ...commands] = process.argv.slice(2)
const LIMIT = { maxBytes: 2 ** 40 }

/** At once: a line that was acknowledged must not wait in a buffer. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

async function obey(storage: Storage, command: string): Promise<void> {
  const { blobs, latest } = storage
  const [, verb, argument = ''] = /^(\w+):(.*)$/.exec(command) ?? []
  if (verb === 'text') {
    await latest.put(await textItem(argument), undefined)
  } else if (verb === 'file') {
    const blob = await blobs.receive(streamOf(argument), LIMIT)
    try {
      await latest.put(await fileItem('a.txt', blob), blob)
    } catch (error) {
      await blob.discard()
      throw error
    }
  } else if (verb === 'size') {
    const chunk = Buffer.alloc(65_536)
    const chunks = Array.from({ length: Math.ceil(Number(argument) / chunk.length) }, () => chunk)
    await (await blobs.receive(streamOf(...chunks), LIMIT)).discard()
  } else {
    throw new Error(`unknown command ${command}`)
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

try {
  const directory = await openDataDirectory({ path: folder })
  const storage = await openStorage({
    directory,
    clock: systemClock,
    logger: new CaptureLogger(),
    limits: { minFreeBytes: 0 },
  })
  for (const command of commands) {
    say(await obey(storage, command).then(() => 'done', codeOf))
  }
  await storage.close()
  await directory.close()
} catch (error) {
  say(codeOf(error))
}
