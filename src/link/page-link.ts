/**
 * Links to the phone page, with credentials in their fragment, which browsers send to no server.
 * They hold a password in plain text, as connect links do.
 * @module
 */

import { stripTrailingSlashes } from './connect-link.ts'

/** The link to the page of the daemon at `url`, with the payload of a connect link. */
export function pageLinkOf(link: string, url: string): string {
  return `${pageAt(url)}#${link.slice(link.indexOf('&p=') + 3)}`
}

/**
 * The same in a third of the length, for codes in small windows. A payload has no colon, so the
 * page can tell them apart.
 */
export function shortPageLink(url: string, user: string, password: string): string {
  return `${pageAt(url)}#${user}:${encodeURIComponent(password)}`
}

function pageAt(url: string): string {
  return `${stripTrailingSlashes(url)}/phone`
}
