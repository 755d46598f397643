/**
 * Request targets: RFC 9112 section 3.2, and the spellings that occur in the wild.
 *
 * Dot segments are not resolved: to us they are names like any other, and no resource has them.
 * @module
 */

/** A request target, taken apart once. */
export interface Target {
  /** Normalised, still percent-encoded. That of a target without sense cannot be decoded. */
  readonly path: string
  /** The text behind the first `?`, without it. */
  readonly search: string
  /** The authority of an absolute target; it counts instead of the `Host` header. */
  readonly authority: string | undefined
}

// The parser of Node lets nothing but printable ASCII through.
const ABSOLUTE = /^https?:\/\/([^/?]*)/i

const AUTHORITY = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._~%-]+)?\])(?::\d{0,5})?$/

const MALFORMED: Target = { path: '/%', search: '', authority: undefined }

/** Whether `text` is `host` or `host:port`: no list, no user, no path. */
export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text)
}

/** Takes a request target apart. Never throws. */
export function parseTarget(method: string, target: string): Target {
  // A fragment never leaves a client that works; cut off silently, it would rename an upload.
  if (target.includes('#')) return MALFORMED
  if (target === '*') return method === 'OPTIONS' ? { ...MALFORMED, path: '/' } : MALFORMED
  if (target.startsWith('/')) return splitPath(target, undefined)
  const [scheme, authority] = ABSOLUTE.exec(target) ?? []
  if (scheme === undefined || authority === undefined || !isAuthority(authority)) return MALFORMED
  return splitPath(target.slice(scheme.length), authority)
}

/**
 * Takes a normalised path apart. Split *before* decoding, so that an encoded slash stays part of
 * its segment.
 *
 * @returns `undefined` when the percent-encoding is malformed, or not UTF-8.
 */
export function decodeSegments(path: string): readonly string[] | undefined {
  const segments = path.slice(1).split('/')
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    // A URIError, which knows nothing that we do not know already.
    return undefined
  }
}

function splitPath(target: string, authority: string | undefined): Target {
  const question = target.indexOf('?')
  const rawPath = question === -1 ? target : target.slice(0, question)
  const search = question === -1 ? '' : target.slice(question + 1)
  return { path: normalisePath(rawPath), search, authority }
}

/** `//Sync.json` and `/file/` occur in the wild. */
function normalisePath(rawPath: string): string {
  const path = rawPath.replace(/\/{2,}/g, '/')
  if (path.length > 1 && path.endsWith('/')) return path.slice(0, -1)
  return path === '' ? '/' : path
}
