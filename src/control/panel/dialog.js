// @ts-check
/**
 * Dialogs that are made when they open and gone when they close, with all that they showed.
 * @module
 */

import { h, newId } from './dom.js'

/** @typedef {ReturnType<typeof openDialog>} Dialog */

/**
 * Opens an empty modal dialog. Escape closes it, and the focus goes back to where it was, or to
 * `fallback` when that is gone.
 *
 * @param {{ fallback: HTMLElement, isWide?: boolean }} options
 */
export function openDialog({ fallback, isWide = false }) {
  const opener = document.activeElement
  const id = newId()
  const heading = h('h2', { id, tabindex: -1 })
  const body = h('div', { class: 'dialog-body' })
  const dialog = h('dialog', { 'aria-labelledby': id, class: isWide && 'wide' }, heading, body)
  /** @type {(() => void)[]} */
  const cleaners = []
  let mayClose = () => true

  function close() {
    if (mayClose()) dialog.close()
  }

  dialog.addEventListener('cancel', (event) => {
    event.preventDefault()
    close()
  })
  dialog.addEventListener('close', () => {
    for (const clean of cleaners) clean()
    // What it showed may be a secret: nothing of it stays in the page.
    dialog.replaceChildren()
    dialog.remove()
    const target = opener instanceof HTMLElement && opener.isConnected ? opener : fallback
    target.focus()
  })
  document.body.append(dialog)
  dialog.showModal()

  return {
    /** Replaces what it shows. */
    show(/** @type {string} */ title, /** @type {readonly Node[]} */ ...content) {
      heading.textContent = title
      body.replaceChildren(...content)
      const first = body.querySelector('[autofocus]')
      if (first instanceof HTMLElement) first.focus()
      else heading.focus()
      dialog.scrollTop = 0
    },
    onClose: (/** @type {() => void} */ clean) => void cleaners.push(clean),
    /** Has each wish to close it asked first. */
    guard: (/** @type {() => boolean} */ ask) => {
      mayClose = ask
    },
    close,
    isOpen: () => dialog.open,
  }
}
