/** Programs as people name them. @module */

/** Longer names break tables and pages. */
const MAX_CLIENT_LENGTH = 32

/** The program in a `User-Agent`: `SyncClipboard 2.8.4`. */
export function formatClient(userAgent: string): string {
  // Browsers begin with names of others; the one that is meant stands further back.
  const browser = /\b(Firefox|Edg|OPR|Chrome|Version)\/([\d.]+)/.exec(userAgent)
  const isBrowser = userAgent.startsWith('Mozilla/') && browser !== null
  const name = isBrowser ? browser[1]?.replace('Version', 'Safari') : undefined
  const major = browser?.[2]?.split('.')[0]
  const first = userAgent.trim().split(/\s/)[0] ?? ''
  const short = name === undefined ? first.replace('/', ' ') : `${name} ${major}`
  return short.length > MAX_CLIENT_LENGTH ? `${short.slice(0, MAX_CLIENT_LENGTH)}…` : short
}
