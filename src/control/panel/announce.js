// @ts-check
/**
 * Says changes to screen readers, when they have a moment. Eyes see them anyway.
 *
 * @module
 */

import { h, setText } from './dom.js'

const region = h('p', { class: 'unseen', role: 'status' })

export function announcer() {
  return region
}

/** @param {string} text */
export function announce(text) {
  setText(region, text)
}
