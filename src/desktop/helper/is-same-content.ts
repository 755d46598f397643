/**
 * Recognises what was written when it is read again.
 *
 * @module
 */

import type { CopiedContent, OfferedContent } from '../../ports/system-clipboard.ts'

/** Images come back in other bytes: they are never the same here. */
export function isSameContent(written: OfferedContent | undefined, copied: CopiedContent): boolean {
  if (copied.kind === 'text') return written?.kind === 'text' && written.text === copied.text
  if (copied.kind !== 'files' || written?.kind !== 'files') return false
  return written.paths.join('\0') === copied.paths.join('\0')
}
