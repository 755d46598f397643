/**
 * Times that age on the page without asking anybody: relative to read, exact on hover and focus.
 * @module
 */

import { h, setAttribute, setText } from '../shared/dom.ts'
import { formatAgo, formatExact } from './format.ts'

const TICK_MS = 1000

/** How far the clock of the daemon is from that of this browser. */
let offsetMs = 0

const times: WeakMap<Element, number> = new WeakMap()

const listeners: Set<() => void> = new Set()

/** Takes over the time of the daemon. */
export function setServerTime(serverTimeMs: number) {
  offsetMs = serverTimeMs - Date.now()
}

/** Now, by the clock of the daemon. */
export function now() {
  return Date.now() + offsetMs
}

/** Calls `listener` every second, until the returned function is called. */
export function onTick(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** A `<time>`; {@link setTime} fills it. */
export function createTime() {
  const relative = h('span')
  const exact = h('span', { class: 'tip' })
  return h('time', { tabindex: 0 }, relative, exact)
}

/** Fills a `<time>` of {@link createTime}. */
export function setTime(time: HTMLTimeElement, at: number) {
  times.set(time, at)
  setAttribute(time, 'datetime', new Date(at).toISOString())
  if (time.lastElementChild !== null) setText(time.lastElementChild, formatExact(at))
  tick(time)
}

/** Starts the clock of the page. */
export function startTicking() {
  setInterval(() => {
    for (const time of document.querySelectorAll('time')) tick(time)
    for (const listener of listeners) listener()
  }, TICK_MS)
}

function tick(time: HTMLTimeElement) {
  const at = times.get(time)
  if (at === undefined || time.firstElementChild === null) return
  setText(time.firstElementChild, formatAgo(at, now()))
}
