// @ts-check
/**
 * Buttons that ask something of the daemon. They stay focusable while they cannot be used: a
 * disabled button would lose the focus, and whoever navigates by keyboard their place.
 * @module
 */

import { ApiError } from './api.js'
import { h, setAttribute, setText } from './dom.js'

let isUsable = true

/** Says to all action buttons whether the daemon can be asked. */
export function setUsable(/** @type {boolean} */ value) {
  isUsable = value
  for (const button of document.querySelectorAll('button.action')) applyUsable(button)
}

/**
 * @typedef {object} Action
 * @property {string} label
 * @property {string} [name] What screen readers say, where the label alone says too little.
 * @property {'primary' | 'danger' | 'quiet'} [look]
 * @property {Element | undefined} [errors] Where a failure is told; without it nothing can fail.
 * @property {() => unknown} run
 */

/** A button that asks the daemon. */
export function actionButton(/** @type {Action} */ { label, name, look, errors, run }) {
  const attributes = { type: 'button', class: `action ${look ?? ''}`, 'aria-label': name }
  const button = h('button', attributes, label)
  button.addEventListener('click', () => void perform(button, { errors, run }))
  applyUsable(button)
  return button
}

/** A button that only changes the page. */
export function plainButton(/** @type {string} */ label, /** @type {() => void} */ run) {
  const button = h('button', { type: 'button' }, label)
  button.addEventListener('click', run)
  return button
}

/** Where failures are told; screen readers say them at once. */
export function errorLine() {
  return h('p', { class: 'error', role: 'alert' })
}

/** Runs an action once at a time, and tells what went wrong. */
export async function perform(
  /** @type {Element} */ button,
  /** @type {Pick<Action, 'errors' | 'run'>} */ { errors, run },
) {
  if (!isUsable || button.hasAttribute('aria-busy')) return
  setAttribute(button, 'aria-busy', 'true')
  if (errors !== undefined) setText(errors, '')
  try {
    await run()
  } catch (error) {
    if (!(error instanceof ApiError) || errors === undefined) throw error
    setText(errors, error.message)
  } finally {
    setAttribute(button, 'aria-busy', undefined)
  }
}

/** Shows whether `button` can be used now. */
export function applyUsable(/** @type {Element} */ button) {
  setAttribute(button, 'aria-disabled', isUsable ? undefined : 'true')
}
