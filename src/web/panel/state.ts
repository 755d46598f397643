/**
 * The state of the daemon, as `GET /state` and the event stream tell it: the newest one, and who
 * wants to know of each. The types are those of the daemon, with `null` for every absent member.
 * @module
 */

import type {
  PanelItem,
  PanelRecent,
  PanelState as StateOfDaemon,
  PanelTransfer,
} from '../../control/panel-state.ts'
import type * as admin from '../../ports/admin.ts'
import type { Sender as SenderOfItem } from '../../core/item.ts'

/** A value as its JSON is read. */
export type Wire<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Wire<Value[Name]> }
  : Value extends undefined
    ? null
    : Value

export type PanelState = Wire<StateOfDaemon> & { readonly serverTimeMs: number }
export type Item = Wire<PanelItem>
export type Recent = Wire<PanelRecent>
export type Transfer = Wire<PanelTransfer>
export type Happened = PanelState['happenings'][number]
export type Sender = Wire<SenderOfItem>
export type Address = PanelState['addresses'][number]
export type Device = Wire<admin.DeviceSummary>
export type Status = Wire<admin.DaemonStatus>
export type Listener = Status['listeners'][number]
export type Codes = { readonly qr: readonly string[]; readonly pageQr: readonly string[] | null }
export type Pairing = Wire<admin.Pairing> & Codes

let current: PanelState | undefined

const listeners: Set<(state: PanelState) => void> = new Set()

/** The newest state; nothing that asks for it is on the page before there is one. */
export function currentState() {
  if (current === undefined) throw new Error('There is no state yet')
  return current
}

/** Whether a state has come. */
export function hasState() {
  return current !== undefined
}

/** The device with an id, as it is now; `undefined` when it is not paired, or not yet known. */
export function findDevice(id: string) {
  return currentState().devices.find((device) => device.id === id)
}

/** Takes over a newer state, and tells the listeners. */
export function publishState(state: PanelState) {
  current = state
  for (const listener of listeners) listener(state)
}

/** Calls `listener` with each state, until the returned function is called. */
export function onState(listener: (state: PanelState) => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Where phones are told to trust the authority of an address, if it has one of ours. */
export function trustPageFor(address: string) {
  const { status, addresses } = currentState()
  const { tls } = status
  const isOurs = tls?.fingerprint != null && tls.urls.includes(address)
  const plain = addresses.find(({ url }) => url.startsWith('http:'))
  return isOurs && plain !== undefined ? `${plain.url}/phone/trust` : undefined
}

/** Whether a URL is that of a listener on all addresses, to which nobody can connect. */
export function isWildcard(url: string) {
  return ['0.0.0.0', '[::]'].includes(new URL(url).hostname)
}
