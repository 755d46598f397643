/** The view of a connect link for people and logs. @module */

import type { ParsedLink } from './connect-link.ts'

/** The text in place of every secret, whatever its length and characters. */
export const REDACTED = '[redacted]'

/** The metadata that is known to be harmless. A later version announces secrets in `o`. */
const SHOWN_METADATA = ['did', 'install', 'label', 'proto']

/** A link without its secrets; plain data, safe to log and to format as JSON. */
export interface RedactedLink {
  readonly v: 1
  readonly url: string
  readonly user: string
  readonly pwd: typeof REDACTED
  readonly o?: Readonly<Record<string, string>>
}

/**
 * Returns the view of a link without its password. Credentials inside `url`, unknown metadata, and
 * every value that repeats the password are left out as well. A stranger may have written the rest:
 * escape it before it goes to a terminal.
 */
export function redactLink({ v, url, user, pwd, o }: ParsedLink): RedactedLink {
  const show = (text: string): string => (text.includes(pwd) ? REDACTED : text)
  const view = { v, url: show(withoutCredentials(url)), user: show(user), pwd: REDACTED } as const
  if (o === undefined) return view
  const known = Object.entries(o).filter(([key]) => SHOWN_METADATA.includes(key))
  return { ...view, o: Object.fromEntries(known.map(([key, value]) => [key, show(value)])) }
}

function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/, `$1${REDACTED}@`)
}
