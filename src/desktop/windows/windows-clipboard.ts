/**
 * The clipboard of Windows, through one long-lived Windows PowerShell that runs
 * `windows-helper.ps1`. A window of it hears of every copy; nothing is polled.
 * @module
 */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OfferedContent, SystemClipboard } from '../../ports/system-clipboard.ts'
import type { ClipboardDialect } from '../helper/helper-requests.ts'
import {
  HelperClipboard,
  type HelperClipboardOptions,
  type HelperProgram,
} from '../helper/helper-clipboard.ts'

const TEXT = 'CF_UNICODETEXT'
const FILES = 'CF_HDROP'

/** Marks of a copy that is not to be watched; what they hold does not matter. */
const MARKS: readonly string[] = [
  'ExcludeClipboardContentFromMonitorProcessing',
  'Clipboard Viewer Ignore',
]

const DIALECT: ClipboardDialect = {
  kind: 'windows',
  formats: [
    { kind: 'files', type: FILES },
    { kind: 'text', type: TEXT },
    { kind: 'image', type: 'PNG', mediaType: 'image/png' },
    { kind: 'image', type: 'image/png', mediaType: 'image/png' },
    // Every program offers it, and no other system has it: the helper makes PNG.
    { kind: 'image', type: 'CF_DIB', mediaType: 'image/png' },
  ],
  // Copies that may not enter a history, or reach other computers, are not for phones either.
  isPrivate: ({ types, denied }) => denied.length > 0 || types.some((type) => MARKS.includes(type)),
  typeOf,
}

/** By its whole path: a search would begin in the working directory. */
const POWERSHELL = ['System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe']

const ARGUMENTS =
  '-NoProfile -NonInteractive -STA -ExecutionPolicy Bypass -InputFormat None -File'.split(' ')

/** It compiles first, which a virus scanner makes slow. */
const READY_MS = 30_000

/** Ids of errors, which are the same in every language. */
const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/UnauthorizedAccess|PSSecurityException/, 'Windows is set up to run no PowerShell scripts'],
  [/ConstrainedLanguage|CannotDefineNewType/, 'Windows is set up to restrict PowerShell scripts'],
]

/** @throws {Error} When the helper does not start. The message is for people. */
export function openWindowsClipboard(
  options: HelperClipboardOptions,
  helper: HelperProgram = powershell(options.env),
): Promise<SystemClipboard> {
  const explain = (line: string) => REASONS.find(([pattern]) => pattern.test(line))?.[1]
  const named = { ...helper, name: 'powershell', readyMs: READY_MS, explain }
  return HelperClipboard.open({ dialect: DIALECT, helper: named }, options)
}

function powershell(env: NodeJS.ProcessEnv): HelperProgram {
  const script = fileURLToPath(new URL('./windows-helper.ps1', import.meta.url))
  return {
    command: join(env['SystemRoot'] ?? 'C:\\Windows', ...POWERSHELL),
    // Without `-InputFormat`, PowerShell would read the lines that are for the script.
    args: [...ARGUMENTS, script],
  }
}

function typeOf(content: OfferedContent): string {
  if (content.kind === 'text') return TEXT
  if (content.kind === 'files') return FILES
  return content.mediaType === 'image/png' ? 'PNG' : content.mediaType
}
