// @ts-check
/**
 * The event stream of the daemon. `EventSource` cannot send a token, so it is read by `fetch`.
 *
 * @module
 */

import { ApiError, ask } from './api.js'
import { parseState } from './state.js'
import { strings } from './strings.js'

/** @import { PanelState } from './state.js' */

/** More characters than the state of thousands of devices has. */
const MAX_FRAME = 16 * 1024 * 1024

/**
 * Each state of the daemon, until it ends the stream.
 *
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<PanelState, void>}
 * @throws {ApiError}
 */
export async function* readStates(signal) {
  const response = await ask('/events', { signal })
  const { ok, status, body } = response
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
      if (data !== undefined) yield readState(data)
    }
  }
}

/** @param {string} data */
function readState(data) {
  try {
    return parseState(data)
  } catch {
    // Something else than our daemon answers on its port.
    return away()
  }
}

/** @returns {never} */
function away() {
  throw new ApiError(strings.errors.away, 0)
}
