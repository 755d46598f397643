/** Numbers of things as people say them. @module */

/** Formats `1 device`, `2 devices`. */
export function countOf(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
