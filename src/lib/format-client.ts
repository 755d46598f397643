/** Programs as people name them. @module */

/** Longer names break tables and pages. */
const MAX_CLIENT_LENGTH = 32

/** Browsers borrow the names of others, so the one that nobody borrows counts first. */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|\bCriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)/],
]

/** The program in a `User-Agent`: `SyncClipboard 2.8.4`. */
export function formatClient(userAgent: string): string {
  const first = userAgent.trim().split(/\s/)[0] ?? ''
  const short = formatBrowser(userAgent) ?? first.replace('/', ' ')
  return short.length > MAX_CLIENT_LENGTH ? `${short.slice(0, MAX_CLIENT_LENGTH)}…` : short
}

function formatBrowser(userAgent: string): string | undefined {
  if (!userAgent.startsWith('Mozilla/')) return undefined
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1]
    if (version !== undefined) return `${name} ${version}`
  }
  return undefined
}
