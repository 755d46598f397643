/**
 * Files on the clipboard: `text/uri-list` (RFC 2483) and `x-special/gnome-copied-files`, which has
 * the word `copy` or `cut` in front. Both hold file URIs (RFC 8089).
 * Only local files count. What is not a well-formed URI of one is skipped: a list may hold web
 * addresses, comments and files of other hosts as well.
 * @module
 */

const FILE_URI = /^file:(?:\/\/([^/?#]*)|(?!\/\/))(\/[^?#]*)$/i

/** A percent sign without two hex digits; an encoded `/` or NUL, which no file name holds. */
const BAD_ESCAPE = /%(?![0-9a-f]{2})|%2f|%00/i

/** Absolute paths of the local files. URIs may name `hostname`, `localhost` or no host. */
export function parseUriList(text: string, hostname: string): string[] {
  return text
    .split(/[\r\n\0]+/)
    .map((line) => parseFileUri(line.trim(), hostname))
    .filter((path) => path !== undefined)
}

/** Formats absolute paths as `text/uri-list`. */
export function formatUriList(paths: readonly string[]): string {
  return paths.map((path) => `${formatFileUri(path)}\r\n`).join('')
}

/** Formats absolute paths as `x-special/gnome-copied-files`; no line end at the end. */
export function formatCopiedFiles(paths: readonly string[]): string {
  return ['copy', ...paths.map(formatFileUri)].join('\n')
}

function parseFileUri(uri: string, hostname: string): string | undefined {
  const [, host = '', path = ''] = FILE_URI.exec(uri) ?? []
  if (path === '' || BAD_ESCAPE.test(path)) return undefined
  if (!['', 'localhost', hostname.toLowerCase()].includes(host.toLowerCase())) return undefined
  try {
    return decodeURIComponent(path)
  } catch {
    // Not UTF-8: such a name cannot be spelled in a string, so the file cannot be opened by it.
    return undefined
  }
}

function formatFileUri(path: string): string {
  // `fs` replaces lone surrogates the same way.
  return `file://${path.toWellFormed().split('/').map(encodeURIComponent).join('/')}`
}
