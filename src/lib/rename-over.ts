/** Renames a file onto a name that another program may have open. @module */

import { rename } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { hasCode } from './system-error.ts'

/** Windows renames nothing onto a file that a scanner, an indexer or a backup has open. */
const HELD_CODES: readonly string[] = ['EPERM', 'EACCES', 'EBUSY']

/** Two seconds in all: those programs let go of a small file within a fraction of that. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 160, 300, 400, 490, 500]

/** A file that another program had open for too long. */
export class FileHeldError extends Error {
  override readonly name = 'FileHeldError'
  readonly code = 'EBUSY'

  constructor(cause: unknown) {
    super('Cannot replace a file: another program has it open', { cause })
  }
}

/** The part of a machine that {@link renameOver} needs; another one is for tests. */
export interface RenamingSystem {
  readonly platform: NodeJS.Platform
  readonly rename: (from: string, to: string) => Promise<void>
  /** Resolves after so many milliseconds, for which it keeps the program alive. */
  readonly wait: (ms: number) => Promise<unknown>
}

const THIS_SYSTEM: RenamingSystem = { platform: process.platform, rename, wait }

/**
 * Renames a file, and replaces what has the name. Where another program has that open, it is tried
 * again for two seconds.
 *
 * @throws {FileHeldError} when it is still open then.
 * @throws What the system call throws for another reason.
 */
export async function renameOver(
  from: string,
  to: string,
  system: RenamingSystem = THIS_SYSTEM,
): Promise<void> {
  // Elsewhere these codes are about rights, which do not come by waiting.
  const isHeld = (error: unknown): boolean =>
    system.platform === 'win32' && hasCode(error, ...HELD_CODES)
  for (const waitMs of WAITS_MS) {
    try {
      return await system.rename(from, to)
    } catch (error) {
      if (!isHeld(error)) throw error
      await system.wait(waitMs)
    }
  }
  await system.rename(from, to).catch((error: unknown) => {
    throw isHeld(error) ? new FileHeldError(error) : error
  })
}
