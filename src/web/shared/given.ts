/** Texts and files that come into a field of a page. @module */

/** Office programs add a picture of how a text looks; file managers add names, without markup. */
export function isText(types: readonly string[]): boolean {
  return types.includes('text/plain') && types.includes('text/html')
}

/** The files among it, where it is no text. */
export function filesIn(data: DataTransfer | null): readonly File[] {
  return data === null || isText(data.types) ? [] : [...data.files]
}
