/**
 * Dialogs that are made when they open and gone when they close, with all that they showed.
 * @module
 */

import { h, newId } from '../shared/dom.ts'

export type Dialog = ReturnType<typeof openDialog>

/**
 * Opens an empty modal dialog. Escape closes it, and the focus goes back to where it was, or to
 * `fallback` when that is gone.
 */
export function openDialog({
  fallback,
  isWide = false,
}: {
  fallback: HTMLElement
  isWide?: boolean
}) {
  const opener = document.activeElement
  const id = newId()
  const heading = h('h2', { id, tabindex: -1 })
  const body = h('div', { class: 'dialog-body' })
  const dialog = h('dialog', { 'aria-labelledby': id, class: isWide && 'wide' }, heading, body)
  const cleaners: (() => void)[] = []
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
    // Nothing stays in the page of what it showed, which may be a secret.
    dialog.replaceChildren()
    dialog.remove()
    const target = opener instanceof HTMLElement && opener.isConnected ? opener : fallback
    target.focus()
  })
  document.body.append(dialog)
  dialog.showModal()

  return {
    show(title: string, ...content: readonly Node[]) {
      heading.textContent = title
      body.replaceChildren(...content)
      const first = body.querySelector('[autofocus]')
      if (first instanceof HTMLElement) first.focus()
      else heading.focus()
      dialog.scrollTop = 0
    },
    onClose: (clean: () => void) => void cleaners.push(clean),
    /** Has each wish to close it asked first. */
    guard: (ask: () => boolean) => {
      mayClose = ask
    },
    close,
    isOpen: () => dialog.open,
  }
}
