/**
 * The clipboard of Windows, through one long-lived process that runs `windows-helper.ts`. A window
 * of it hears of every copy; nothing is polled (decision 016).
 * @module
 */

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

/** Names that programs have agreed on. */
const IMAGES: Readonly<Record<string, string>> = {
  'image/png': 'PNG',
  'image/jpeg': 'JFIF',
  'image/gif': 'GIF',
}

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
    // Windows makes each out of the other, and no other system has them: they become PNG.
    { kind: 'image', type: 'CF_DIBV5', mediaType: 'image/png' },
    { kind: 'image', type: 'CF_DIB', mediaType: 'image/png' },
  ],
  // Copies that may not enter a history, or reach other computers, are not for phones either.
  isPrivate: ({ types, denied }) => denied.length > 0 || types.some((type) => MARKS.includes(type)),
  typeOf,
  hasImageFiles: true,
}

/** In the sources it is TypeScript, like this file. */
const HELPER = import.meta.url.endsWith('.ts') ? './windows-helper.ts' : './windows-helper.js'

/** Reasons by what the helper says before it ends. */
const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^no access$/, 'Windows gives no clipboard to this session'],
  [/^no window$/, 'Windows does not tell of the clipboard'],
  [
    /^(?:Error: )?Cannot find module '@koromix/,
    'The package koffi is missing: install clipgate with its optional packages, on Windows',
  ],
]

/** @throws {Error} When the helper does not start. The message is for people. */
export function openWindowsClipboard(
  options: HelperClipboardOptions,
  helper: HelperProgram = {
    command: process.execPath,
    args: [fileURLToPath(new URL(HELPER, import.meta.url))],
  },
): Promise<SystemClipboard> {
  const explain = (line: string) => REASONS.find(([pattern]) => pattern.test(line))?.[1]
  return HelperClipboard.open(
    { dialect: DIALECT, helper: { ...helper, name: 'windows-helper', explain } },
    options,
  )
}

function typeOf(content: OfferedContent): string {
  if (content.kind === 'text') return TEXT
  if (content.kind === 'files') return FILES
  return IMAGES[content.mediaType] ?? content.mediaType
}
