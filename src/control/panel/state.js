// @ts-check
/**
 * What the daemon tells about itself, as `GET /state` and the event stream say it. The types are
 * those of the daemon, with `null` for every member that is absent.
 * @module
 */

/**
 * @import * as admin from '../../ports/admin.ts'
 * @import { PanelItem, PanelState as StateOfDaemon } from '../panel-state.ts'
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
/** @typedef {PanelState['addresses'][number]} Address */
/** @typedef {Wire<admin.DeviceSummary>} Device */
/** @typedef {Wire<admin.DaemonStatus>} Status */
/** @typedef {Status['listeners'][number]} Listener */
/** @typedef {Wire<admin.Pairing> & { readonly qr: readonly string[] }} Pairing */

/**
 * Reads a state. The daemon that serves this page made it, so only its outline is checked.
 *
 * @param {string} text
 * @returns {PanelState}
 * @throws {TypeError} when it is something else.
 */
export function parseState(text) {
  const value = JSON.parse(text)
  const isState = Array.isArray(value?.devices) && Array.isArray(value.status?.listeners)
  if (!isState) throw new TypeError('Cannot read the state of the daemon')
  return value
}
