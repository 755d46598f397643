/**
 * The NULs at the end of a text: some programs count the terminating one of a C string in.
 *
 * @module
 */

import { withoutTrailing } from '../lib/without-trailing.ts'

export function withoutTrailingNuls(text: string): string {
  return withoutTrailing(text, '\0')
}
