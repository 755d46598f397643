/**
 * Reads what was copied through a clipboard helper, in the format that suits best.
 *
 * @module
 */

import type { CopiedContent } from '../../ports/system-clipboard.ts'
import { CopyTooLarge } from '../clipboard-errors.ts'
import type { CopyLimits } from '../read-copy.ts'
import { planFormats, type ClipboardDialect, type FormatToRead } from './clipboard-dialect.ts'
import { decodeReadReply, type ClipboardState } from './clipboard-messages.ts'
import { contentOfCopy } from './content-of-copy.ts'
import { readPrivateFile, withPrivateFile } from './private-file.ts'

/** Asks the helper; resolves to the fields of its reply. */
export type AskHelper = (
  action: string,
  fields?: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>

export interface HelperCopy {
  /** `undefined` when it is private, empty, or in no format that is known here. */
  readonly content: CopiedContent | undefined
  /** What a program makes only when it is asked for may count as a change. */
  readonly change: number
}

export interface HelperCopyDeps {
  readonly ask: AskHelper
  readonly dialect: ClipboardDialect
  readonly limits: CopyLimits
}

/**
 * @returns `undefined` when another copy has overtaken this one, of which we are told.
 * @throws {CopyTooLarge} Past the limits.
 * @throws {Error} When the helper does not do it. The message is for people.
 */
export async function readHelperCopy(
  state: ClipboardState,
  signal: AbortSignal,
  deps: HelperCopyDeps,
): Promise<HelperCopy | undefined> {
  let { change } = state
  for (const format of planFormats(deps.dialect, state)) {
    const read = await readFormat(format, change, deps)
    if (read === undefined || signal.aborted) return undefined
    change = read.change
    const content = read.bytes === undefined ? undefined : await contentOfCopy(format, read.bytes)
    if (content !== undefined) return { content, change }
  }
  return { content: undefined, change }
}

interface ReadFormat {
  readonly change: number
  /** `undefined` when the copy is not there in this format after all. */
  readonly bytes: Uint8Array | undefined
}

async function readFormat(
  format: FormatToRead,
  change: number,
  { ask, limits }: HelperCopyDeps,
): Promise<ReadFormat | undefined> {
  const maxBytes = format.kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
  return withPrivateFile(async (file) => {
    const reply = decodeReadReply(await ask('read', { change, type: format.type, maxBytes, file }))
    switch (reply.outcome) {
      case 'overtaken':
        return undefined
      case 'absent':
        return { change: reply.change, bytes: undefined }
      case 'tooLong':
        throw new CopyTooLarge({ maxBytes, size: maxBytes + 1, kind: format.kind })
      case 'read':
        if (reply.bytes > maxBytes) {
          throw new CopyTooLarge({ maxBytes, size: reply.bytes, kind: format.kind })
        }
        return { change: reply.change, bytes: await readPrivateFile(file, reply.bytes) }
    }
  })
}
