/**
 * What people and logs may see of a connect link.
 *
 * @module
 */

import type { ParsedLink } from './connect-link.ts'

/** Stands for every secret; says nothing of its length or characters. */
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
 * The view of a link without its password. Credentials inside `url`, unknown metadata, and any
 * value that repeats the password are left out as well. The rest is still what a stranger may have
 * written: escape it before it goes to a terminal.
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
