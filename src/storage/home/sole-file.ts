/**
 * Opens a file that one program alone can have open, on systems that have such files. It ends with
 * its program, however that ends, which no process id tells for sure.
 * @module
 */

import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { PRIVATE_FILE_MODE } from '../../lib/atomic-file.ts'
import { hasCode } from '../../lib/system-error.ts'

/** How a system is asked. Node has no names for these flags, and hands them on as they are. */
interface Way {
  /** Added to open(2) by the one who holds the file. */
  readonly hold: number
  /** Added by those who only look. */
  readonly look: number
  /** How it says that somebody holds the file. */
  readonly heldCode: string
}

const WAYS: Partial<Record<NodeJS.Platform, Way>> = {
  // UV_FS_O_EXLOCK of libuv: shared with nobody, and whoever comes then is refused.
  win32: { hold: 0x1000_0000, look: 0, heldCode: 'EBUSY' },
  // O_EXLOCK and O_SHLOCK of open(2).
  darwin: {
    hold: 0x20 | constants.O_NONBLOCK,
    look: 0x10 | constants.O_NONBLOCK,
    heldCode: 'EAGAIN',
  },
}

/** Half a second in all: those who look have the file open for an instant. */
const WAITS_MS: readonly number[] = [10, 20, 40, 80, 150, 200]

/** The part of a machine that decides; another one is for tests. */
export interface SoleFileSystem {
  readonly platform: NodeJS.Platform
  readonly open: (path: string, flags: number, mode?: number) => Promise<FileHandle>
  readonly wait: (ms: number) => Promise<unknown>
}

const THIS_SYSTEM: SoleFileSystem = { platform: process.platform, open, wait }

/**
 * Opens the file, and makes it where there is none. It stays when it is closed.
 *
 * @returns `held` when another program has it open, and `unknown` where no system or no file system
 *   can tell.
 */
export async function openAlone(
  path: string,
  { platform, open, wait }: SoleFileSystem = THIS_SYSTEM,
): Promise<FileHandle | 'held' | 'unknown'> {
  const way = WAYS[platform]
  if (way === undefined) return 'unknown'
  for (const waitMs of [0, ...WAITS_MS]) {
    if (waitMs > 0) await wait(waitMs)
    try {
      const flags = constants.O_RDWR | constants.O_CREAT | way.hold
      return await open(path, flags, PRIVATE_FILE_MODE)
    } catch (error) {
      if (isUnsupported(error)) return 'unknown'
      if (!hasCode(error, way.heldCode)) throw error
    }
  }
  return 'held'
}

/** Whether a program has the file open alone, as far as that can be told. */
export async function askWhetherHeld(
  path: string,
  { platform, open }: Omit<SoleFileSystem, 'wait'> = THIS_SYSTEM,
): Promise<'held' | 'free' | 'unknown'> {
  const way = WAYS[platform]
  if (way === undefined) return 'unknown'
  try {
    await (await open(path, constants.O_RDONLY | way.look)).close()
    return 'free'
  } catch (error) {
    if (hasCode(error, way.heldCode)) return 'held'
    // A lock without this file was taken where no file can be held.
    if (isUnsupported(error) || hasCode(error, 'ENOENT')) return 'unknown'
    throw error
  }
}

/** Some network folders of macOS. */
function isUnsupported(error: unknown): boolean {
  return hasCode(error, 'ENOTSUP', 'EOPNOTSUPP')
}
