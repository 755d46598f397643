import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openWindowsClipboard } from '../../../src/desktop/windows/windows-clipboard.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { SILENT } from '../support/open-reconciler.ts'

describe('The Windows clipboard, when it opens', { timeout: 60_000 }, () => {
  it('says why it cannot be had', async () => {
    const cases = [
      ['no access', /^Error: Windows gives no clipboard to this session$/],
      ['no window', /^Error: Windows does not tell of the clipboard$/],
      [
        "Error: Cannot find module '@koromix/koffi-win32-x64'",
        /^Error: The package koffi is missing/,
      ],
      ['whatever', /^Error: "windows-helper" ended with exit code 1$/],
    ] as const
    for (const [complaint, reason] of cases) {
      const script = `console.error(${JSON.stringify(complaint)}); process.exitCode = 1`
      const logger = new CaptureLogger()
      const deps = { events: SILENT, clock: systemClock, logger, readAtStart: false }
      const opening = openWindowsClipboard(
        { ...deps, env: process.env },
        { command: process.execPath, args: ['-e', script] },
      )
      await assert.rejects(opening, reason)
    }
  })
})
