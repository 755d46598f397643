/**
 * Buttons that ask something of the daemon. They stay focusable while they cannot be used: a
 * disabled button would lose the focus, and whoever navigates by keyboard their place.
 * @module
 */

import { ApiError } from './api.ts'
import { h, setAttribute, setText } from '../shared/dom.ts'

export const announcer = h('p', { class: 'unseen', role: 'status' })

/** Says a change to screen readers, when they have a moment. Eyes see it anyway. */
export function announce(text: string): void {
  setText(announcer, text)
}

let isUsable = true

/** Says to all action buttons whether the daemon can be asked. */
export function setUsable(value: boolean) {
  isUsable = value
  for (const button of document.querySelectorAll('button.action')) applyUsable(button)
}

interface Action {
  readonly label: string
  /** The words of screen readers, where the label alone says too little. */
  readonly name?: string
  readonly look?: 'primary' | 'danger' | 'quiet'
  /** Where a failure is told; without it nothing can fail. */
  readonly errors?: Element | undefined
  readonly run: () => unknown
}

/** A button that asks the daemon. */
export function actionButton({ label, name, look, errors, run }: Action) {
  const attributes = { type: 'button', class: `action ${look ?? ''}`, 'aria-label': name }
  const button = h('button', attributes, label)
  button.addEventListener('click', () => void perform(button, { errors, run }))
  applyUsable(button)
  return button
}

/** Where failures are told; screen readers say them at once. */
export function errorLine() {
  return h('p', { class: 'error', role: 'alert' })
}

/** Runs an action once at a time, and tells what went wrong. */
export async function perform(button: Element, { errors, run }: Pick<Action, 'errors' | 'run'>) {
  if (!isUsable || button.hasAttribute('aria-busy')) return
  setAttribute(button, 'aria-busy', 'true')
  if (errors !== undefined) setText(errors, '')
  try {
    await attempt(errors, run)
  } finally {
    setAttribute(button, 'aria-busy', undefined)
  }
}

/** Runs something, and tells what went wrong, behind what did before. */
export async function attempt(errors: Element | undefined, run: () => unknown) {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof ApiError) || errors === undefined) throw error
    setText(errors, [errors.textContent, error.message].filter(Boolean).join(' '))
  }
}

/** Shows whether `button` can be used now. */
export function applyUsable(button: Element) {
  setAttribute(button, 'aria-disabled', isUsable ? undefined : 'true')
}
