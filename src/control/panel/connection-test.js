// @ts-check
/**
 * Waits for the first request of a device, and says what to check when none comes.
 *
 * @module
 */

import { announce } from './announce.js'
import { h, newId, setAttribute, setText } from './dom.js'
import { formatClient } from './format.js'
import { icon } from './icons.js'
import { currentState, onState } from './store.js'
import { strings } from './strings.js'
import { now, onTick } from './time.js'

/** Whoever scans has long been through by then. */
const PATIENCE_MS = 30_000

const words = strings.pairing

/**
 * @param {object} options
 * @param {string} options.id
 * @param {string} options.label
 * @param {string} options.url
 * @param {string | undefined} options.seenBefore
 */
export function createConnectionTest({ id, label, url, seenBefore }) {
  const headingId = newId()
  const sign = h('span', { class: 'sign' }, h('span', { class: 'spinner' }))
  const title = h('p', { class: 'test-title' }, words.waiting(label))
  const text = h('p', { class: 'note' }, words.waitingHint)
  const state = h('div', { class: 'test-state' }, sign, h('div', {}, title, text))
  const way = h('span', { class: 'mono break' }, `${url.replace(/\/$/, '')}/healthz`)
  const checks = h(
    'div',
    { class: 'checks', hidden: true },
    h('p', { class: 'label' }, words.slow),
    h('ul', {}, h('li', {}, words.probe, way), ...words.checks.map((check) => h('li', {}, check))),
  )
  const heading = h('h3', { id: headingId }, words.test)
  const attributes = { class: 'test', 'aria-labelledby': headingId }
  const element = h('section', attributes, heading, state, checks)
  const startedAt = now()

  function look() {
    if (!hasBeenPublished()) return
    const device = currentState().devices.find((one) => one.id === id)
    const at = device?.lastSeenAt ?? undefined
    if (at === undefined || at === seenBefore) return
    stop()
    const client = device?.lastClient ?? ''
    const address = device?.lastSeenAddress ?? ''
    sign.replaceChildren(icon('check'))
    setAttribute(element, 'data-state', 'done')
    setText(title, words.seen(label))
    const isKnown = client !== '' && address !== ''
    setText(text, isKnown ? words.seenBy(formatClient(client), address) : words.seenPlain)
    checks.hidden = true
    announce(words.seen(label))
  }

  /** The state may be older than the device. */
  function hasBeenPublished() {
    return currentState().devices.some((one) => one.id === id)
  }

  function wait() {
    if (now() - startedAt >= PATIENCE_MS) checks.hidden = false
  }

  const stops = [onState(look), onTick(wait)]
  function stop() {
    for (const end of stops.splice(0)) end()
  }
  look()
  return { element, stop }
}
