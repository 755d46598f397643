/** The clipboard of Windows, with its real helper. @module */

import { fileURLToPath } from 'node:url'
import { openWindowsClipboard } from '../../../../src/desktop/windows/windows-clipboard.ts'
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

/** The adapter alone; the test closes it. */
export function openOnWindows(deps: SystemDeps): Promise<SystemClipboard> {
  return openWindowsClipboard(
    { ...deps, env: process.env, readAtStart: false },
    { command: process.execPath, args: [...LOADER, HELPER] },
  )
}
