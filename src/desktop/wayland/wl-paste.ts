/**
 * Reads the Wayland clipboard with wl-paste, always in a format that was chosen before: left to
 * choose, wl-paste would ask other programs and take ten times as long.
 * @module
 */

import { KIB } from '../../core/limits.ts'
import type { CopiedContent } from '../../ports/system-clipboard.ts'
import { readCopy, type CopyLimits } from '../read-copy.ts'
import { runTool, type ToolOptions } from './run-tool.ts'

/** Far more than any program has. */
const MAX_TYPES_BYTES: number = 16 * KIB

interface PasteOptions extends Omit<ToolOptions, 'maxBytes'> {
  readonly limits: CopyLimits
  readonly signal: AbortSignal
}

/** The formats in which the clipboard can be read; none when it is empty. */
export async function listTypes(
  options: Omit<ToolOptions, 'maxBytes'>,
): Promise<readonly string[]> {
  const more = { ...options, maxBytes: MAX_TYPES_BYTES }
  const { isSuccess, output } = await runTool('wl-paste', ['--list-types'], more)
  if (!isSuccess) return []
  return Buffer.from(output)
    .toString()
    .split('\n')
    .filter((type) => type !== '')
}

/**
 * Reads what is on the clipboard.
 *
 * Each step is another process and may see another copy: what was marked as secret in between
 * would be taken for the copy before it. So it counts only if the formats are the same at the end.
 *
 * @returns As `SystemClipboard.read`.
 * @throws {CopyTooLarge} When the copy is larger than `limits` allow.
 * @throws {Error} When the program that it was copied from does not answer.
 * @throws `signal.reason` when aborted.
 */
export async function pasteCopy({
  limits,
  ...options
}: PasteOptions): Promise<CopiedContent | 'overtaken' | undefined> {
  const types = await listTypes(options)
  if (types.length === 0) return 'overtaken'
  const read = async (type: string, maxBytes: number): Promise<Uint8Array | undefined> => {
    const args = ['--no-newline', '--type', type]
    const { isSuccess, output } = await runTool('wl-paste', args, { ...options, maxBytes })
    return isSuccess ? output : undefined
  }
  const content = await readCopy({ targets: async () => types, read }, limits, options.signal)
  if (content === undefined) return undefined
  const isSame = (await listTypes(options)).join('\n') === types.join('\n')
  return isSame ? content : 'overtaken'
}
