/** The adapters of macOS and Windows, over programs that stand in for their helpers. @module */

import type { TestContext } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { systemClock, type Clock } from '../../../../src/lib/clock.ts'
import type { HelperClipboardOptions } from '../../../../src/desktop/helper/helper-clipboard.ts'
import { openMacosClipboard } from '../../../../src/desktop/macos/macos-clipboard.ts'
import { openWindowsClipboard } from '../../../../src/desktop/windows/windows-clipboard.ts'
import type { CopiedContent, SystemClipboard } from '../../../../src/ports/system-clipboard.ts'
import {
  openReconciler,
  type Opened,
  type OpenOptions,
  type SystemDeps,
} from '../../support/open-reconciler.ts'
import { ClipboardFile } from './clipboard-file.js'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

export type HelperPlatform = 'macos' | 'windows'

export const HELPER_PLATFORMS: readonly HelperPlatform[] = ['macos', 'windows']

const TYPES = {
  macos: { text: 'public.utf8-plain-text', image: 'public.png', files: 'public.file-url' },
  windows: { text: 'CF_UNICODETEXT', image: 'PNG', files: 'CF_HDROP' },
} as const satisfies Record<HelperPlatform, Record<CopiedContent['kind'], string>>

const OPEN = { macos: openMacosClipboard, windows: openWindowsClipboard }

const pathOf = (url: string): string => fileURLToPath(new URL(url, import.meta.url))

export const OSASCRIPT = pathOf('../../macos/support/osascript.js')
export const SCRIPT = pathOf('../../../../src/desktop/macos/macos-helper.js')
const STAND_IN = pathOf('../../windows/support/stand-in.js')

export interface OpenedHelperClipboard extends Opened<Clock> {
  /** The clipboard of the system, for other programs. */
  readonly system: ClipboardFile
}

/** A system without a daemon. */
export async function makeSystem(t: TestContext): Promise<ClipboardFile> {
  const folder = await temporaryFolder(t)
  return new ClipboardFile(folder)
}

/** The adapter alone; the test closes it. */
export function openOn(
  platform: HelperPlatform,
  { folder }: ClipboardFile,
  options: SystemDeps & Partial<HelperClipboardOptions>,
): Promise<SystemClipboard> {
  const args = {
    macos: [OSASCRIPT, '-l', 'JavaScript', SCRIPT, folder],
    windows: [STAND_IN, folder],
  }[platform]
  const { env } = process
  const defaults = { env, readAtStart: false }
  return OPEN[platform]({ ...defaults, ...options }, { command: process.execPath, args })
}

interface Options extends OpenOptions {
  readonly system?: ClipboardFile
  readonly clock?: Clock
  readonly readAtStart?: boolean
}

/** Opens a clipboard, closed with the test. */
export async function openHelperClipboard(
  t: TestContext,
  platform: HelperPlatform,
  options: Options = {},
): Promise<OpenedHelperClipboard> {
  const { system = await makeSystem(t), clock = systemClock, readAtStart = false } = options
  const opened = await openReconciler(
    clock,
    (deps) => openOn(platform, system, { ...deps, readAtStart }),
    options,
  )
  t.after(() => opened.clipboard.close())
  return { ...opened, system }
}

/** Another program copies. */
export function copyElsewhere(
  platform: HelperPlatform,
  system: ClipboardFile,
  content: CopiedContent,
): void {
  system.put({ [TYPES[platform][content.kind]]: bytesOf(platform, content) })
}

/** Another program pastes. */
export function pasteElsewhere(
  platform: HelperPlatform,
  system: ClipboardFile,
  kind: CopiedContent['kind'],
): CopiedContent | undefined {
  const bytes = system.bytesOf(TYPES[platform][kind])
  if (bytes === undefined) return undefined
  if (kind === 'text') return { kind, text: bytes.toString() }
  if (kind === 'image') return { kind, mediaType: 'image/png', bytes }
  const entries: string[] = JSON.parse(bytes.toString())
  return { kind, paths: platform === 'macos' ? entries.map((url) => fileURLToPath(url)) : entries }
}

function bytesOf(platform: HelperPlatform, content: CopiedContent): Uint8Array | string {
  if (content.kind === 'text') return content.text
  if (content.kind === 'image') return content.bytes
  const { paths } = content
  if (platform === 'windows') return JSON.stringify(paths)
  return JSON.stringify(paths.map((path) => pathToFileURL(path).href))
}
