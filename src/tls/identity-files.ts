/** A certificate and a key that somebody else looks after, as PEM files. @module */

import { constants, type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { messageOf } from '../lib/describe-failure.ts'
import { codeOf, wordsOf } from '../lib/system-error.ts'
import type { IdentitySource } from './follow-identity.ts'
import { createIdentity, type Identity } from './identity.ts'

const GROUP_AND_OTHERS = 0o077

/** No file of certificates is larger. */
const MAX_BYTES: number = 1024 * 1024

/**
 * Makes a source of two files, which may be links. A key that others may read is refused.
 *
 * @param cert Absolute path, as `key`.
 */
export function identityFiles(cert: string, key: string): IdentitySource {
  return {
    look: async () => {
      const marks = await Promise.all([cert, key].map(markOf))
      return marks.join('\n')
    },
    load: () => load(cert, key),
  }
}

/** @throws {Error} when others than the owner of a file may read it. Windows has no such rights. */
export function checkPrivate({ mode }: Pick<Stats, 'mode'>): void {
  if (process.platform === 'win32' || (mode & GROUP_AND_OTHERS) === 0) return
  throw new Error('others may read it; chmod 600 it')
}

async function markOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return codeOf(error) ?? ''
  }
}

async function load(cert: string, key: string): Promise<Identity> {
  const pair = {
    key: await read('--tls-key', key, checkPrivate),
    cert: await read('--tls-cert', cert),
  }
  try {
    return createIdentity(pair)
  } catch (error) {
    throw new Error(`Cannot use ${cert} with ${key}: ${messageOf(error)}`, { cause: error })
  }
}

async function read(
  option: string,
  path: string,
  check: (stats: Stats) => void = () => undefined,
): Promise<string> {
  try {
    // Does not wait for the other end of a pipe.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('it is no PEM file')
      check(stats)
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    const reason = codeOf(error) === undefined ? messageOf(error) : wordsOf(error)
    throw new Error(`Cannot use ${option} ${path}: ${reason}`, { cause: error })
  }
}
