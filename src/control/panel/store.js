// @ts-check
/**
 * The newest state, and who wants to know of each.
 * @module
 */

/** @import { PanelState } from './state.js' */

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

/** @param {PanelState} state */
export function publishState(state) {
  current = state
  for (const listener of listeners) listener(state)
}

/**
 * Calls `listener` with each state, until the returned function is called.
 *
 * @param {(state: PanelState) => void} listener
 */
export function onState(listener) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
