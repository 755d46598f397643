// @ts-check
/**
 * Whether what is copied here is shared, and the way to stop that for a while.
 * @module
 */

import { actionButton, errorLine } from './actions.js'
import { pauseSharing, resumeSharing } from './api.js'
import { announce, h, newId, section, setAttribute, setText } from './dom.js'
import { formatClock, formatLeft } from './format.js'
import { strings } from './strings.js'
import { now, onTick } from './time.js'

/** @import { Status } from './state.js' */

const words = strings.pause

export function createPauseView() {
  const errors = errorLine()
  const text = h('p', { tabindex: -1 })
  const left = h('span', { class: 'left' })
  const choices = words.choices.map(({ label, name, ms }) =>
    actionButton({ label, name, errors, run: () => change(() => pauseSharing(ms)) }),
  )
  const run = () => change(resumeSharing)
  const resume = actionButton({ label: words.resume, look: 'primary', errors, run })
  const label = h('span', { id: newId(), class: 'group-label' }, words.group)
  const attributes = { class: 'choices', role: 'group', 'aria-labelledby': label.id }
  const group = h('div', attributes, label, ...choices)
  const heading = h('h2', {}, words.heading)
  const body = h('div', { class: 'pause-body' }, h('div', {}, text, left), group, resume)
  const card = section({ class: 'card pause' }, heading, body, errors)

  /** @type {Status['paused']} */
  let paused
  let isFirst = true

  /** The button that was used goes away: the focus stays beside it. */
  async function change(/** @type {() => Promise<void>} */ ask) {
    await ask()
    text.focus()
  }

  function render(/** @type {Status} */ status) {
    const wasPaused = paused != null
    paused = status.paused ?? null
    const isPaused = paused !== null
    const isAlone = status.mode === 'headless' || status.clipboard === 'none'
    const until = paused?.untilMs ?? null
    setAttribute(card, 'data-paused', isPaused)
    const state = until === null ? words.open : words.until(formatClock(until))
    setText(text, isPaused ? state : isAlone ? words.off : words.on)
    group.hidden = isPaused || isAlone
    resume.hidden = !isPaused
    if (!isFirst && wasPaused !== isPaused) {
      announce(isPaused ? words.announceOff : words.announceOn)
    }
    isFirst = false
    tick()
  }

  function tick() {
    const until = paused?.untilMs ?? null
    setText(left, until === null ? '' : formatLeft(until - now()))
  }

  onTick(tick)
  return { section: card, render }
}
