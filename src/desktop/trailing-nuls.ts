/**
 * The NULs at the end of a text: some programs count the terminating one of a C string in.
 *
 * @module
 */

/** Not `/\0+$/`, whose time is the square of the number of NULs that something else follows. */
export function withoutTrailingNuls(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0) end -= 1
  return text.slice(0, end)
}
