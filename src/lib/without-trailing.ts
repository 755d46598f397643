/** Cuts a run of one character off the end of a text. @module */

/**
 * The text without any `character` at its end.
 *
 * A regular expression such as `/x+$/` would take the square of the length of every run that
 * something else follows, and such texts come from other people.
 */
export function withoutTrailing(text: string, character: string): string {
  const unwanted = character.charCodeAt(0)
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === unwanted) end -= 1
  return text.slice(0, end)
}
