// @ts-check
/**
 * The token with which this tab is signed in. It comes in the fragment of the address, which no
 * server is sent, and the tab keeps it; it is good for as long as the daemon that made it runs.
 *
 * @module
 */

const KEY = 'clipgate.token'

const FRAGMENT = /^#([\w-]{43})$/

/** Takes the token out of the address, where it would be seen and kept. */
export function takeToken() {
  const { hash, pathname } = location
  history.replaceState(null, '', pathname)
  const token = FRAGMENT.exec(hash)?.[1]
  if (token !== undefined) sessionStorage.setItem(KEY, token)
}

export function currentToken() {
  return sessionStorage.getItem(KEY) ?? undefined
}

export function forgetToken() {
  sessionStorage.removeItem(KEY)
}
