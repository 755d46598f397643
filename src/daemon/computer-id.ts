/**
 * By what a phone knows this computer again at an address that another one may get: a refusal of
 * another daemon looks like that of its own.
 *
 * The id is told to paired devices. Of others, who names its first half at `/phone/trust` is told
 * the second: nobody finds out which computer this is who has not been told before.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isSameToken } from '../control/control-token.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import type { Logger } from '../ports/logger.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import type { TrustFile } from '../ports/trust-file.ts'
import { DiskPrivateFile } from '../storage/home/own-files.ts'

const COMPUTER_ID_FILE = 'computer.id'

/** No half can be guessed. */
const ID_BYTES = 33
const ID = /^[\w-]{44}$/

/**
 * Reads the id of a data directory, or makes it. Phones learn a new one when they log in.
 *
 * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE` when it cannot be kept.
 */
export async function openComputerId(dataDir: string, logger: Logger): Promise<string> {
  const file = new DiskPrivateFile(join(dataDir, COMPUTER_ID_FILE))
  const kept = await readId(file, logger)
  if (kept !== undefined) return kept
  const id = randomBytes(ID_BYTES).toString('base64url')
  await file.write(`${id}\n`)
  return id
}

async function readId(file: PrivateFile, logger: Logger): Promise<string | undefined> {
  try {
    const id = (await file.read())?.trim()
    if (id === undefined || ID.test(id)) return id
    throw new TypeError('it holds no id')
  } catch (error) {
    const what = `Cannot read ${COMPUTER_ID_FILE}; it is made again`
    logger.warn(what, { ...describeFailure(error) })
    return undefined
  }
}

/** The second half of an id, for whoever names the first. */
export function secondHalf(id: string, name: string): TrustFile | undefined {
  const half = id.length / 2
  if (!isSameToken(name, id.slice(0, half))) return undefined
  const policy = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"]
  const headers = [...policy, 'Referrer-Policy', 'no-referrer']
  return { mediaType: 'text/plain; charset=utf-8', headers, body: Buffer.from(id.slice(half)) }
}
