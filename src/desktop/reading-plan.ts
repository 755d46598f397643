/**
 * Chooses what to read when a program offers one copy in several formats.
 *
 * 1. Files, when it lists any that exist here: file managers offer their paths as text as well,
 *    but the person meant the files.
 * 2. Plain text. Programs that copy text often offer a picture of it too (a spreadsheet its
 *    cells), while those that copy a picture offer HTML beside it (a browser an `<img>`), but no
 *    plain text. So plain text means that text was copied.
 * 3. An image: PNG because it is lossless and everybody reads it, then JPEG, then the others.
 *
 * HTML source is never read. A step that yields nothing gives way to the next one.
 *
 * @module
 */

/** `unknown` is UTF-8 if it can be, else Latin-1. */
export type Charset = 'utf-8' | 'unknown' | 'latin-1'

export type ReadingStep =
  | { readonly kind: 'files'; readonly target: string }
  | { readonly kind: 'text'; readonly target: string; readonly charset: Charset }
  | { readonly kind: 'image'; readonly target: string }

/** In the order of preference. */
const STEPS: readonly ReadingStep[] = [
  { kind: 'files', target: 'text/uri-list' },
  { kind: 'files', target: 'x-special/gnome-copied-files' },
  { kind: 'text', target: 'UTF8_STRING', charset: 'utf-8' },
  { kind: 'text', target: 'text/plain;charset=utf-8', charset: 'utf-8' },
  { kind: 'text', target: 'text/plain;charset=UTF-8', charset: 'utf-8' },
  { kind: 'text', target: 'text/plain', charset: 'unknown' },
  { kind: 'text', target: 'STRING', charset: 'latin-1' },
  { kind: 'image', target: 'image/png' },
  { kind: 'image', target: 'image/jpeg' },
  { kind: 'image', target: 'image/webp' },
  { kind: 'image', target: 'image/gif' },
  { kind: 'image', target: 'image/tiff' },
  { kind: 'image', target: 'image/bmp' },
  { kind: 'image', target: 'image/avif' },
  { kind: 'image', target: 'image/heic' },
  { kind: 'image', target: 'image/heif' },
]

/** What to try, best first, when `targets` are offered. */
export function planReading(targets: readonly string[]): readonly ReadingStep[] {
  return STEPS.filter(({ target }) => targets.includes(target))
}
