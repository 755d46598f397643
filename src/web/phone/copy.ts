/**
 * Copies a text, where browsers allow it: without https that is only by the command of old.
 * @module
 */

import { h } from '../shared/dom.ts'

/**
 * Copies a text. To be called inside of a tap, before anything is awaited.
 *
 * @returns Whether the browser says that it did.
 */
export async function copyText(text: string): Promise<boolean> {
  if (copyByCommand(text)) return true
  if (!('clipboard' in navigator)) return false
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
}

function copyByCommand(text: string) {
  // iOS scrolls to a field of less than 16 px, and opens the keyboard for one that can be written.
  const field = h('textarea', {
    class: 'unseen copied',
    autocomplete: 'off',
    readonly: true,
    'aria-hidden': true,
  })
  field.value = text
  document.body.append(field)
  const focused = document.activeElement
  field.focus({ preventScroll: true })
  field.select()
  field.setSelectionRange(0, text.length)
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  }
}

/** Selects what an element shows, for a hand that copies it. */
export function selectText(element: Element) {
  const range = document.createRange()
  range.selectNodeContents(element)
  const selection = getSelection()
  selection?.removeAllRanges()
  selection?.addRange(range)
}
