/**
 * Whether the reader wants to see what items hold: other people may look at the same screen.
 * @module
 */

/** Remembers the wish in this browser. */
const HIDDEN_KEY = 'clipgate.preview'

/** Whether content is hidden. */
export function isHidden() {
  return localStorage.getItem(HIDDEN_KEY) === 'hidden'
}

/** Hides content, or shows it again. */
export function setHidden(value: boolean) {
  if (value) localStorage.setItem(HIDDEN_KEY, 'hidden')
  else localStorage.removeItem(HIDDEN_KEY)
}
