// @ts-check
/**
 * Hears of each change, across outages and a locked screen. `EventSource` cannot send credentials,
 * so the stream is read by `fetch`.
 * @module
 */

import { ApiError, ask } from './api.js'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

/** A stream that was well for so long ends for a reason, such as that this phone was removed. */
const WELL_MS = 2_000

/** The daemon sends a sign of life every 25 s. */
const MAX_SILENCE_MS = 50_000

/** A stream that a proxy holds back has no bytes by then. */
const FIRST_BYTES_MS = 10_000

/** Between two looks where there is no stream. */
const POLL_MS = 5_000
const MAX_POLLS = 60

/** @typedef {'trying' | 'live' | 'away' | 'refused'} Way */

/**
 * Follows the daemon until it refuses this phone.
 *
 * A hidden page lets go of its stream: a phone freezes it anyway.
 *
 * @param {object} listeners
 * @param {() => Promise<void>} listeners.pull Gets what is current.
 * @param {(way: Way) => void} listeners.onWay
 * @returns {{ end: () => void, reopen: () => void }} `reopen` looks again at once.
 */
export function follow({ pull, onWay }) {
  let stream = new AbortController()
  let delayMs = FIRST_DELAY_MS
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let isEnded = false

  async function open() {
    close()
    if (document.hidden || isEnded) return
    stream = new AbortController()
    const { signal } = stream
    const openedAt = Date.now()
    const way = await attend(signal)
    if (signal.aborted) return
    const wasWell = way !== 'refused' && Date.now() - openedAt > WELL_MS
    onWay(wasWell ? 'trying' : way)
    if (way === 'refused') return end()
    timer = setTimeout(open, wasWell ? 0 : delayMs)
    delayMs = Math.min(delayMs * 1.7, MAX_DELAY_MS)
  }

  /** @returns {Promise<Way>} How the way is when this has ended. */
  async function attend(/** @type {AbortSignal} */ signal) {
    try {
      for await (const _ of signalsOf(signal)) {
        await pull()
        delayMs = FIRST_DELAY_MS
        if (!signal.aborted) onWay('live')
      }
      return 'trying'
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return error.code === 'refused' ? 'refused' : 'away'
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

  function end() {
    isEnded = true
    close()
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : reopen()))
  // A stream hears nothing of a network that is gone.
  window.addEventListener('offline', reopen)
  window.addEventListener('online', reopen)
  // A page that the browser had frozen has a dead stream.
  window.addEventListener('pageshow', (event) => event.persisted && reopen())
  window.addEventListener('pagehide', close)
  void open()
  return { end, reopen }
}

/**
 * Yields whenever something may have changed, until the daemon ends the stream.
 *
 * @param {AbortSignal} signal
 * @throws {ApiError}
 */
async function* signalsOf(signal) {
  const watchdog = new AbortController()
  const stop = () => watchdog.abort()
  signal.addEventListener('abort', stop)
  let timer = setTimeout(stop, FIRST_BYTES_MS)
  let wasHeard = false
  try {
    const { body } = await ask('/api/sse/clipboard', { signal: watchdog.signal })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    for (let rest = ''; ; ) {
      const { done = true, value } = (await reader?.read()) ?? {}
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(stop, MAX_SILENCE_MS)
      wasHeard = true
      const frames = (rest + value).split('\n\n')
      rest = frames.pop() ?? ''
      // A frame without data is a sign of life.
      if (frames.some((frame) => /^data:/m.test(frame))) yield
    }
  } catch (error) {
    const isHeldBack = watchdog.signal.aborted && !signal.aborted && !wasHeard
    if (!isHeldBack) throw error instanceof ApiError ? error : new ApiError('away')
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    stop()
  }
  // A proxy keeps the stream to itself, so the document is all there is for a while.
  for (let polls = 0; polls < MAX_POLLS && !signal.aborted; polls++) {
    yield
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
