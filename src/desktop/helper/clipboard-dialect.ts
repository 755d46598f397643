/**
 * In what macOS and Windows differ: the names of formats, and how programs mark secrets.
 *
 * @module
 */

import type { ClipboardKind, OfferedContent } from '../../ports/system-clipboard.ts'
import type { ClipboardState } from './clipboard-messages.ts'

/** One format to try. */
export type FormatToRead =
  | { readonly kind: 'files' | 'text'; readonly type: string }
  /** `mediaType` is that of the bytes that come. */
  | { readonly kind: 'image'; readonly type: string; readonly mediaType: string }

export interface ClipboardDialect {
  readonly kind: ClipboardKind
  /**
   * All formats that can be read, in the order of preference of `reading-plan.ts`: files, plain
   * text, images.
   */
  readonly formats: readonly FormatToRead[]
  /** Whether whoever copied does not want it to be shared. */
  isPrivate(state: ClipboardState): boolean
  /** The format to offer as. */
  typeOf(content: OfferedContent): string
}

/** What to try, best first; nothing at all of what is private. */
export function planFormats(
  { formats, isPrivate }: ClipboardDialect,
  state: ClipboardState,
): readonly FormatToRead[] {
  return isPrivate(state) ? [] : formats.filter(({ type }) => state.types.includes(type))
}
