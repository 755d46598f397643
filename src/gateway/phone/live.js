// @ts-check
/**
 * Hears of each change, across outages and a locked screen. `EventSource` cannot send credentials,
 * so the stream is read by `fetch`.
 * @module
 */

import { ApiError, ask } from './api.js'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000

/** A stream that was live for so long ends for a reason, such as that this phone was removed. */
const WELL_MS = 2_000

/** The daemon sends a sign of life every 25 s. After two such times without one it is not there. */
const MAX_SILENCE_MS = 27_000

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
 * @returns {{ end: () => void, lose: () => void, reopen: () => void }} `reopen` looks again at
 *   once; `lose` as well, and says that nobody is there until then.
 */
export function follow({ pull, onWay }) {
  let stream = new AbortController()
  let delayMs = FIRST_DELAY_MS
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let isEnded = false
  /**
   * Since when this stream is live, unless somebody does not answer right now.
   *
   * @type {number | undefined}
   */
  let liveAt

  async function open() {
    close()
    if (document.hidden || isEnded) return
    stream = new AbortController()
    const { signal } = stream
    liveAt = undefined
    const way = await attend(signal)
    if (signal.aborted) return
    const wasWell = way !== 'refused' && Date.now() - (liveAt ?? Infinity) > WELL_MS
    onWay(wasWell ? 'trying' : way)
    if (way === 'refused') return end()
    timer = setTimeout(open, wasWell ? 0 : delayMs)
    delayMs = Math.min(delayMs * 1.7, MAX_DELAY_MS)
  }

  /** @returns {Promise<Way>} How the way is when this has ended. */
  async function attend(/** @type {AbortSignal} */ signal) {
    /** @type {number | undefined} */
    let since
    try {
      // Who does not answer this is away, and nobody waits for a stream to find out.
      await pull()
      for await (const _ of signalsOf(signal)) {
        liveAt = undefined
        await pull()
        delayMs = FIRST_DELAY_MS
        if (signal.aborted) continue
        liveAt = since ??= Date.now()
        onWay('live')
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

  function lose() {
    if (isEnded) return
    onWay('away')
    reopen()
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
  return { end, lose, reopen }
}

/**
 * Yields whenever something may have changed, until the daemon ends the stream.
 *
 * @param {AbortSignal} signal
 * @throws {ApiError}
 */
async function* signalsOf(signal) {
  const stream = new AbortController()
  const stop = () => stream.abort()
  signal.addEventListener('abort', stop)
  try {
    const chunks = chunksOf(stream.signal)
    /** @type {Promise<IteratorResult<string, void>> | undefined} */
    let next
    let [rest, isHeard, isQuiet] = ['', false, false]
    for (;;) {
      next ??= chunks.next()
      const come = await within(isHeard ? MAX_SILENCE_MS : FIRST_BYTES_MS, next)
      if (come === undefined) {
        if (!isHeard) break
        if (isQuiet) throw new ApiError('away')
        isQuiet = true
        // Whoever asks for the document now finds out whether somebody is there.
        yield
        continue
      }
      if (come.done) return
      next = undefined
      isHeard = true
      isQuiet = false
      const frames = (rest + come.value).split('\n\n')
      rest = frames.pop() ?? ''
      // A frame without data is a sign of life.
      if (frames.some((frame) => /^data:/m.test(frame))) yield
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
  // A proxy keeps the stream to itself, so the document is all there is for a while.
  for (let polls = 0; polls < MAX_POLLS && !signal.aborted; polls++) {
    yield
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/**
 * Yields the stream as it comes.
 *
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<string, void>}
 * @throws {ApiError}
 */
async function* chunksOf(signal) {
  const { body } = await ask('/api/sse/clipboard', { signal })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value } =
      (await reader?.read().catch(() => {
        throw new ApiError('away')
      })) ?? {}
    if (value === undefined) return
    yield value
  }
}

/**
 * @template Result
 * @param {number} ms
 * @param {Promise<Result>} work
 * @returns {Promise<Result | undefined>} Nothing when it takes longer.
 */
async function within(ms, work) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
