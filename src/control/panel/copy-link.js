// @ts-check
/**
 * Copies a connect link without handing it to every paired device: the daemon shares what is on
 * the clipboard of this computer, so it is paused before the link gets there.
 *
 * @module
 */

import { actionButton, errorLine } from './actions.js'
import { pauseSharing } from './api.js'
import { h, newId, setText } from './dom.js'
import { currentState, onState } from './store.js'
import { strings } from './strings.js'
import { now } from './time.js'

/** Long enough to paste the link somewhere. */
const PAUSE_MS = 60_000

const words = strings.pairing

/** @param {string} link */
export function createCopyLink(link) {
  const errors = errorLine()
  const done = h('p', { class: 'note', role: 'status' })
  const hint = h('p', { id: newId(), class: 'note' })
  const byHand = h('div')
  const button = actionButton({ label: words.copy, errors, run: copy })
  button.setAttribute('aria-describedby', hint.id)

  async function copy() {
    const mustPause = sharing() === 'on'
    if (mustPause) await pauseSharing(PAUSE_MS)
    try {
      await navigator.clipboard.writeText(link)
      setText(done, mustPause ? words.copiedPaused : words.copied)
    } catch {
      // Not allowed, or not there: whatever the reason, a person can still copy it.
      select()
    }
  }

  function select() {
    const attributes = { type: 'text', class: 'mono', readonly: true, 'aria-label': words.link }
    const field = h('input', attributes)
    field.value = link
    byHand.replaceChildren(field)
    field.select()
    setText(done, words.select)
  }

  const element = h('div', { class: 'copy' }, button, hint, done, byHand, errors)
  const renderHint = () => setText(hint, HINTS[sharing()])
  renderHint()
  const stop = onState(() => (element.isConnected ? renderHint() : stop()))
  return element
}

const HINTS = {
  on: words.copyHint,
  paused: words.copyHintPaused,
  none: words.copyHintHeadless,
}

/** Whether what gets on the clipboard of this computer is shared, for the next minute at least. */
function sharing() {
  const { mode, clipboard, paused } = currentState().status
  if (mode === 'headless' || clipboard === 'none') return 'none'
  const isPaused = paused != null && (paused.untilMs === null || paused.untilMs >= now() + PAUSE_MS)
  return isPaused ? 'paused' : 'on'
}
