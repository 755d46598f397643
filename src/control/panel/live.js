// @ts-check
/**
 * Follows the state of the daemon over its event stream, across outages and restarts.
 *
 * @module
 */

import { probe } from './api.js'
import { parseState } from './state.js'

/** @import { PanelState } from './state.js' */

const FIRST_DELAY_MS = 500

/** The daemon is on this machine: asking costs nothing, and people watch. */
const MAX_DELAY_MS = 5_000

/** @typedef {'trying' | 'live' | 'away' | 'signed-out'} LinkState */

/**
 * Calls `onState` with each state, and `onLink` when the way to the daemon changes.
 *
 * A hidden page lets go of its stream: browsers open six connections to a host, in all tabs
 * together, so that the seventh tab would never load.
 *
 * @param {{ onState: (state: PanelState) => void, onLink: (link: LinkState) => void }} listeners
 */
export function followDaemon({ onState, onLink }) {
  /** @type {EventSource | undefined} */
  let source
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let delayMs = FIRST_DELAY_MS
  let isSignedOut = false

  function open() {
    close()
    if (document.hidden) return
    const opened = new EventSource('/events')
    source = opened
    opened.addEventListener('state', (event) => {
      delayMs = FIRST_DELAY_MS
      isSignedOut = false
      onState(parseState(event.data))
      onLink('live')
    })
    opened.addEventListener('error', () => {
      // It would try again on its own, but not after every kind of failure, and never says which.
      opened.close()
      if (opened === source) void explain(opened)
    })
  }

  /** @param {EventSource} failed */
  async function explain(failed) {
    const link = await probe()
    if (failed !== source) return
    onLink(link === 'up' ? 'trying' : link)
    isSignedOut = link === 'signed-out'
    // Signing in happens in another window, and then somebody comes back to this one.
    if (isSignedOut) return
    timer = setTimeout(open, delayMs)
    delayMs = Math.min(delayMs * 1.5, MAX_DELAY_MS)
  }

  function close() {
    clearTimeout(timer)
    source?.close()
    source = undefined
  }

  function retry() {
    delayMs = FIRST_DELAY_MS
    open()
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : retry()))
  window.addEventListener('focus', () => isSignedOut && retry())
  // A page that the browser had frozen has a dead stream.
  window.addEventListener('pageshow', (event) => event.persisted && retry())
  window.addEventListener('pagehide', close)
  open()
  return { retry }
}
