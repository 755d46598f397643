/**
 * The credentials of this phone. They come in the fragment of the address, which no server is sent,
 * and this browser keeps them.
 * @module
 */

import { decodeBase64url, encodeBase64url } from '../../link/base64url.ts'
import { withStorage } from '../shared/storage.ts'

/** The credentials of this phone, and the computer that they are for. */
export interface Account {
  readonly user: string
  readonly password: string
  /** The id of the computer that has accepted them. */
  readonly id?: string | undefined
}

const browser = (): Storage => localStorage

/** Kept besides, for browsers that keep nothing. */
let known: Account | undefined

/** Whether they came in the address, and the browser does not keep them yet. */
let isNew = false

/** Where the daemon is, without a slash at its end: a proxy may have put it below a path. */
export const base = location.origin + location.pathname.replace(/\/phone$/, '')

/** Two daemons may stand below paths of one site. */
export const KEY: string = `clipgate.phone${new URL(base).pathname.replace(/\/$/, '')}`

/**
 * Takes the credentials out of the address, where they would be seen and kept, or out of this
 * browser. Those of an address take the place of others only once they were accepted, by
 * {@link keepAccount}: anybody can make an address.
 *
 * @returns `damaged` when the address has some that nobody can
 *   read.
 */
export function takeAccount(): Account | 'damaged' | undefined {
  const payload = location.hash.slice(1)
  if (payload === '') return stored()
  history.replaceState(null, '', location.pathname)
  const account = decode(payload)
  if (account === undefined) return 'damaged'
  known = account
  isNew = true
  if (kept() === undefined) keepAccount()
  return account
}

/** Keeps the credentials in the browser, and which computer has accepted them. */
export function keepAccount(id = known?.id) {
  if (known === undefined || (!isNew && id === known.id)) return
  known = { ...known, id }
  withStorage(browser, (storage) => {
    storage.setItem(KEY, JSON.stringify(known))
    isNew = false
  })
}

/** The credentials of this phone, if it has some. */
export function stored() {
  known ??= kept()
  return known
}

/**
 * Goes on with what other tabs have left in this browser.
 *
 * @param wasRemoved Whether one of them has signed out; another account may be there since.
 * @returns Whether that is another account than before, or none.
 */
export function followTabs(wasRemoved: boolean) {
  const before = known
  if (!isNew && (wasRemoved || kept() === undefined)) known = undefined
  return !isSame(stored(), before)
}

/** Goes on with others that this browser keeps by now. @returns Whether there are any. */
export function takeOthers() {
  const other = kept()
  if (other === undefined || isSame(other, known)) return false
  known = other
  isNew = false
  return true
}

/** Removes all that this page has put into the browser. */
export function forgetAccount() {
  known = undefined
  withStorage(browser, (storage) => storage.removeItem(KEY))
}

function kept() {
  return withStorage(browser, (storage) => accountOf(JSON.parse(storage.getItem(KEY) ?? 'null')))
}

function isSame(one: Account | undefined, other: Account | undefined) {
  return one?.user === other?.user && one?.password === other?.password
}

/** The link that opens this account in an app. */
export function linkOf({ user, password }: Account) {
  const json = JSON.stringify({ v: 1, url: base, user, pwd: password })
  return `connect?v=1&svc=mobile-sync&p=${encodeBase64url(json)}`
}

/** The address of the page at another base, with this account. */
export function pageOf(account: Account, url: string) {
  return `${url}/phone#${linkOf(account).replace(/.*&p=/, '')}`
}

function decode(payload: string): Account | undefined {
  try {
    // The short form, of codes in small windows.
    const [, name, password] = /^(\w+):(.+)$/.exec(payload) ?? []
    if (password !== undefined) {
      return accountOf({ user: name, password: decodeURIComponent(password) })
    }
    const { user, pwd } = JSON.parse(decodeBase64url(payload) ?? '')
    return accountOf({ user, password: pwd })
  } catch {
    // Half a code, or that of something else: there is nothing more to say of it.
    return undefined
  }
}

function accountOf(value: Partial<Record<keyof Account, unknown>> | null): Account | undefined {
  const { user, password, id } = value ?? {}
  if (typeof user !== 'string' || typeof password !== 'string') return undefined
  if (user === '' || password === '') return undefined
  return { user, password, id: typeof id === 'string' ? id : undefined }
}
