/**
 * A header value with parameters: `form-data; name="a"; filename=b`, RFC 9110 section 5.6.6.
 *
 * Reads what is meant rather than what is allowed where that cannot be mistaken: blanks around the
 * equals sign, values without quotes that are not tokens, quotes inside a quoted value. Refuses
 * parameters given twice, which two readers could take for different things.
 *
 * Works on bytes as latin1, as Node hands headers out, and takes linear time.
 * @module
 */

/** The value of a parameter; bytes as latin1. */
export interface HeaderParameter {
  readonly text: string
  readonly isQuoted: boolean
}

/** A header value, taken apart. */
export interface ParameterizedValue {
  /** In lower case. */
  readonly value: string
  /** By names in lower case. */
  readonly parameters: ReadonlyMap<string, HeaderParameter>
}

// A quote ends a quoted value only before a semicolon or the end, since there are clients that do
// not escape the quotes of a file name. A parameter may be empty: `a; ; b=c`.
const PARAMETER =
  /;[ \t]*(?:([^\s"=;,]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^]|"(?![ \t]*(?:;|$)))*)"|([^;"][^;]*)?))?[ \t]*/y

/** @returns `undefined` when the text is malformed. */
export function parseParameters(text: string): ParameterizedValue | undefined {
  const end = text.indexOf(';')
  if (end === -1) return { value: trimBlanks(text).toLowerCase(), parameters: new Map() }
  const parameters = new Map<string, HeaderParameter>()
  PARAMETER.lastIndex = end
  while (PARAMETER.lastIndex < text.length) {
    const match = PARAMETER.exec(text)
    if (match === null) return undefined
    const [, name, quoted, plain = ''] = match
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) return undefined
    parameters.set(key, readValue(quoted, plain))
  }
  return { value: trimBlanks(text.slice(0, end)).toLowerCase(), parameters }
}

/** Without the blanks and tabs around it; a regular expression would take quadratic time. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * A backslash escapes only what needs it: in `"C:\new\photo.png"`, as old browsers write, it
 * stands for itself.
 */
function readValue(quoted: string | undefined, plain: string): HeaderParameter {
  if (quoted === undefined) return { text: trimBlanks(plain), isQuoted: false }
  return { text: quoted.replace(/\\(["\\])/g, '$1'), isQuoted: true }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
