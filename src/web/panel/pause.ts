/** Whether what is copied here is shared, and the way to stop that for a while. @module */

import { actionButton, announce, errorLine } from './actions.ts'
import { pauseSharing, resumeSharing } from './api.ts'
import { h, newId, section, setAttribute, setText } from '../shared/dom.ts'
import { formatClock, formatLeft } from './format.ts'
import { strings } from './strings.ts'
import { now, onTick } from './time.ts'
import type { Status } from './state.ts'

const words = strings.pause

/** The part of the page that begins and ends pauses. */
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

  let paused: Status['paused']
  let isFirst = true

  /** The button that was used goes away: the focus stays beside it. */
  async function change(ask: () => Promise<void>) {
    await ask()
    text.focus()
  }

  function render(status: Status) {
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
