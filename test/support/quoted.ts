/** A text as a regular expression has it, such as a path of Windows. @module */

export function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
