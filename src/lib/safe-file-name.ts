/**
 * Turns the name that a device gave to a file into one that is safe to have in a folder.
 *
 * The name stays as it is wherever it can: a file that was pushed should be found again.
 * @module
 */

/** The longest name that the usual file systems allow. */
const MAX_NAME_BYTES = 255

/** A longer ending is not taken for an extension. */
const MAX_EXTENSION_BYTES = 32

/** The name of a file whose own name has no character that may stay. */
const FALLBACK_NAME = 'file'

// Separators and controls, which no data name has; and marks that reverse what is read, so that
// an `exe` looks like a `txt`. Invisible characters stay: a file keeps the name it was pushed with.
const UNSAFE = /[/\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const RESERVED_ON_WINDOWS = /[<>:"|?*]/g

/** Names of devices on Windows, with or without an extension. */
const DEVICE_ON_WINDOWS = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|con(?:in|out)\$) *(?:\.|$)/i

/** Files that Windows reads by itself where they lie: they change a folder, or run something. */
const OBEYED_ON_WINDOWS = /^(?:desktop\.ini|autorun\.inf|(?:eh)?thumbs\.db)$/i

/**
 * Files whose icon or target Windows fetches once their folder is looked into: from another
 * computer if they say so, to which it sends the login of the user.
 */
const FETCHED_ON_WINDOWS = /\.(?:lnk|url|scf|library-ms|searchconnector-ms|theme)$/i

/** A safe name, at most 255 bytes long, that is neither hidden nor empty. */
export function safeFileName(name: string, platform: NodeJS.Platform): string {
  const isWindows = platform === 'win32'
  let safe = name.toWellFormed().replace(UNSAFE, '_')
  if (isWindows) safe = safe.replace(RESERVED_ON_WINDOWS, '_')
  safe = shorten(trimEnds(safe), '')
  if (isWindows && (DEVICE_ON_WINDOWS.test(safe) || OBEYED_ON_WINDOWS.test(safe)))
    safe = shorten(`_${safe}`, '')
  if (isWindows && FETCHED_ON_WINDOWS.test(safe)) safe = shorten(`${safe}_`, '')
  return safe
}

/** `photo.jpg` as `photo (2).jpg`; the name itself for 1. Safe when `name` is. */
export function numberedName(name: string, number: number): string {
  return number === 1 ? name : shorten(name, ` (${number})`)
}

/** Without blanks around it, dots at the end and a dot in front. */
function trimEnds(name: string): string {
  const trimmed = name.trim().replace(/[.\s]+$/, '')
  if (trimmed === '') return FALLBACK_NAME
  return trimmed.startsWith('.') ? `_${trimmed}` : trimmed
}

/** `name` with `suffix` before its extension; takes from the stem what is too much. */
function shorten(name: string, suffix: string): string {
  const dot = name.lastIndexOf('.')
  const isExtension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= MAX_EXTENSION_BYTES
  const [stem, extension] = isExtension ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const room = MAX_NAME_BYTES - Buffer.byteLength(suffix + extension)
  return cut(stem, room) + suffix + extension
}

/** The longest beginning of whole characters that fits and does not end in a dot or blank. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  let kept = ''
  let bytes = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) break
    kept += character
  }
  return kept.replace(/[.\s]+$/, '')
}
