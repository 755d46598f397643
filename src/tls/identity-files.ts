/** A certificate and a key that somebody else looks after, read again when they change. @module */

import { constants, type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { SecureContext } from 'node:tls'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { codeOf, wordsOf } from '../lib/system-error.ts'
import type { Logger } from '../ports/logger.ts'
import { createIdentity, type Identity } from './identity.ts'

/** Pause between two looks at the files: programs that renew them tell nobody. */
export const LOOK_MS = 10_000

const GROUP_AND_OTHERS = 0o077

/** The identity of a listener, as it is now. */
export interface ServedIdentity {
  readonly current: Identity
  /** Why what is newer is not used, if it is not. */
  readonly error: string | undefined
  context(): SecureContext
  /** Calls `listener` when one of these has changed. @returns Ends that. */
  onChange(listener: () => void): () => void
  close(): void
}

/** Options of {@link IdentityFiles}. */
export interface IdentityFilesOptions {
  /** Absolute paths, which may be links. */
  readonly cert: string
  readonly key: string
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
}

/**
 * Opens the two files, and looks at them from then on.
 *
 * @throws {Error} saying which cannot be used, and why: a key that others may read is refused.
 */
export async function openIdentityFiles(options: IdentityFilesOptions): Promise<ServedIdentity> {
  const seen = await look(options)
  return new IdentityFiles(options, seen, await load(options))
}

class IdentityFiles implements ServedIdentity {
  readonly #options: IdentityFilesOptions
  current: Identity
  error: string | undefined
  #seen: string
  #cancel: () => void = () => undefined
  #isClosed = false
  readonly #watchers = new Subscribers()

  constructor(options: IdentityFilesOptions, seen: string, current: Identity) {
    this.#options = options
    this.#seen = seen
    this.current = current
    this.#lookLater()
  }

  context(): SecureContext {
    return this.current.context
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  #lookLater(): void {
    if (this.#isClosed) return
    this.#cancel = this.#options.clock.after(LOOK_MS, () => {
      void this.#look().finally(() => this.#lookLater())
    })
  }

  /** Connections that there are go on with what they began with. */
  async #look(): Promise<void> {
    const { logger } = this.#options
    const seen = await look(this.#options)
    if (seen === this.#seen) return
    try {
      this.current = await load(this.#options)
      // Only now: one of the two may be written later than the other.
      this.#seen = seen
      this.error = undefined
      logger.info('The TLS certificate was read again')
    } catch (error) {
      const reason = messageOf(error)
      if (reason === this.error) return
      logger.warn('The TLS certificate cannot be used', { reason })
      this.error = reason
    }
    this.#watchers.notify()
  }
}

/** A text that is another one once one of the files has changed. */
async function look({ cert, key }: IdentityFilesOptions): Promise<string> {
  const marks = await Promise.all(
    [cert, key].map((path) => stat(path, { bigint: true }).catch(codeOf)),
  )
  return marks
    .map((mark) => {
      if (typeof mark !== 'object') return mark ?? ''
      return [mark.dev, mark.ino, mark.size, mark.mtimeNs, mark.ctimeNs].join(' ')
    })
    .join('\n')
}

async function load(files: IdentityFilesOptions): Promise<Identity> {
  const key = await read('--tls-key', files.key, checkPrivate)
  const cert = await read('--tls-cert', files.cert)
  try {
    return createIdentity({ cert, key })
  } catch (error) {
    throw new Error(`Cannot use ${files.cert} with ${files.key}: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** No file of certificates is larger. */
const MAX_BYTES: number = 1024 * 1024

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

/** @throws {Error} when others than the owner of a file may read it. Windows has no such rights. */
function checkPrivate({ mode }: Stats): void {
  if (process.platform === 'win32' || (mode & GROUP_AND_OTHERS) === 0) return
  throw new Error('others may read it; chmod 600 it')
}
