/** The clipboard of Windows, with its real helper. @module */

import { fileURLToPath } from 'node:url'
import { openWindowsClipboard } from '../../../../src/desktop/windows/windows-clipboard.ts'
import { messageOf } from '../../../../src/lib/describe-failure.ts'
import type { SystemClipboard } from '../../../../src/ports/system-clipboard.ts'
import { LOADER } from '../../../support/program.ts'
import type { SystemDeps } from '../../support/open-reconciler.ts'

/** Below Wine, test/windows/clipboard.test.ts runs what has this. */
export const NEEDS_WINDOWS = {
  skip: process.platform === 'win32' ? false : 'skipped: needs Windows',
} as const

const HELPER = fileURLToPath(
  new URL('../../../../src/desktop/windows/windows-helper.ts', import.meta.url),
)

/**
 * The adapter alone; the test closes it. A helper that does not start is tried again, as the daemon
 * does: Wine refuses one in some thousand times, and a busy machine may take longer than it gets.
 */
export async function openOnWindows(deps: SystemDeps, failed = 0): Promise<SystemClipboard> {
  try {
    return await openWindowsClipboard(
      { ...deps, env: process.env, readAtStart: false },
      { command: process.execPath, args: [...LOADER, HELPER] },
    )
  } catch (error) {
    if (failed === 2) throw error
    deps.logger.warn('The helper did not start', { reason: messageOf(error) })
    return openOnWindows(deps, failed + 1)
  }
}
