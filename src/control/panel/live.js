// @ts-check
/**
 * Follows the state of the daemon over its event stream, across outages. `EventSource` cannot send
 * a token, so the stream is read by `fetch`.
 * @module
 */

import { ApiError, ask, away, forgetToken } from './api.js'
import { parseState } from './state.js'
import { strings } from './strings.js'

/** @import { PanelState } from './state.js' */

/** More characters than the state of thousands of devices has. */
const MAX_FRAME = 16 * 1024 * 1024

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
  let stream = new AbortController()
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let delayMs = FIRST_DELAY_MS

  async function open() {
    close()
    if (document.hidden) return
    stream = new AbortController()
    const { signal } = stream
    const link = await follow(signal)
    if (signal.aborted) return
    onLink(link)
    if (link === 'signed-out') return
    timer = setTimeout(open, delayMs)
    delayMs = Math.min(delayMs * 1.5, MAX_DELAY_MS)
  }

  /** @returns {Promise<LinkState>} How the way to the daemon is when the stream has ended. */
  async function follow(/** @type {AbortSignal} */ signal) {
    try {
      for await (const state of readStates(signal)) {
        delayMs = FIRST_DELAY_MS
        onState(state)
        onLink('live')
      }
      return 'trying'
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status !== 401) return 'away'
      // That daemon has ended, or has signed everybody out. No other one will know this token.
      forgetToken()
      return 'signed-out'
    }
  }

  function close() {
    clearTimeout(timer)
    stream.abort()
  }

  function reopen() {
    delayMs = FIRST_DELAY_MS
    void open()
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : reopen()))
  // A page that the browser had frozen has a dead stream.
  window.addEventListener('pageshow', (event) => event.persisted && reopen())
  window.addEventListener('pagehide', close)
  void open()
}

/**
 * Each state of the daemon, until it ends the stream.
 *
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<PanelState, void>}
 * @throws {ApiError}
 */
async function* readStates(signal) {
  const { ok, status, body } = await ask('/events', { signal })
  if (!ok || body === null) throw new ApiError(strings.errors.unexpected(status), status)
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch(away)
    if (done) return
    const frames = (rest + value).split('\n\n')
    rest = frames.pop() ?? ''
    if (rest.length > MAX_FRAME) away()
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      // A frame without data is a sign of life.
      if (data !== undefined) yield parseState(data) ?? away()
    }
  }
}
