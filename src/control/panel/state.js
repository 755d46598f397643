// @ts-check
/**
 * What the daemon tells about itself, as `GET /state` and the event stream say it; the newest state,
 * and who wants to know of each. The types are those of the daemon, with `null` for every member
 * that is absent.
 * @module
 */

/**
 * @import * as admin from '../../ports/admin.ts'
 * @import { PanelItem, PanelRecent, PanelState as StateOfDaemon, PanelTransfer } from '../panel-state.ts'
 * @import { Sender as SenderOfItem } from '../../ports/panel.ts'
 */

/**
 * A value as its JSON is read.
 *
 * @template Value
 * @typedef {Value extends object
 *   ? { readonly [Name in keyof Value]: Wire<Value[Name]> }
 *   : Value extends undefined ? null : Value} Wire
 */

/** @typedef {Wire<StateOfDaemon> & { readonly serverTimeMs: number }} PanelState */
/** @typedef {Wire<PanelItem>} Item */
/** @typedef {Wire<PanelRecent>} Recent */
/** @typedef {Wire<PanelTransfer>} Transfer */
/** @typedef {Wire<SenderOfItem>} Sender */
/** @typedef {PanelState['addresses'][number]} Address */
/** @typedef {Wire<admin.DeviceSummary>} Device */
/** @typedef {Wire<admin.DaemonStatus>} Status */
/** @typedef {Status['listeners'][number]} Listener */
/** @typedef {{ readonly qr: readonly string[], readonly pageQr: readonly string[] | null }} Codes */
/** @typedef {Wire<admin.Pairing> & Codes} Pairing */

/** @type {PanelState | undefined} */
let current

/** @type {Set<(state: PanelState) => void>} */
const listeners = new Set()

/** The newest state; nothing that asks for it is on the page before there is one. */
export function currentState() {
  if (current === undefined) throw new Error('There is no state yet')
  return current
}

export function hasState() {
  return current !== undefined
}

/** The device with an id, as it is now; `undefined` when it is not paired, or not yet told of. */
export function findDevice(/** @type {string} */ id) {
  return currentState().devices.find((device) => device.id === id)
}

export function publishState(/** @type {PanelState} */ state) {
  current = state
  for (const listener of listeners) listener(state)
}

/** Calls `listener` with each state, until the returned function is called. */
export function onState(/** @type {(state: PanelState) => void} */ listener) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/**
 * Reads a state. The daemon that serves this page made it, so only its outline is checked.
 *
 * @param {string} text
 * @returns {PanelState | undefined} `undefined` when it is something else.
 */
export function parseState(text) {
  try {
    const value = JSON.parse(text)
    const isState = Array.isArray(value?.devices) && Array.isArray(value.status?.listeners)
    return isState ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a URL is that of a listener on all addresses, which is none to connect to. */
export function isWildcard(/** @type {string} */ url) {
  return ['0.0.0.0', '[::]'].includes(new URL(url).hostname)
}
