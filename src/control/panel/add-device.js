// @ts-check
/**
 * The dialog that adds a device: a name and an address, then what connects it.
 *
 * @module
 */

import { applyUsable, errorLine, perform, plainButton } from './actions.js'
import { chooseAddress } from './addresses.js'
import { announce } from './announce.js'
import { addDevice, revokeDevice } from './api.js'
import { openDialog } from './dialog.js'
import { h, newId } from './dom.js'
import { showPairing } from './pairing.js'
import { currentState } from './store.js'
import { strings } from './strings.js'

const words = strings.add

/** Of a label, in characters. */
const MAX_LABEL_LENGTH = 64

/** @param {{ fallback: HTMLElement }} options */
export function openAddDevice({ fallback }) {
  const dialog = openDialog({ fallback, isWide: true })
  const errors = errorLine()
  const [id, hintId] = [newId(), newId()]
  const label = h('input', {
    id,
    type: 'text',
    maxlength: MAX_LABEL_LENGTH,
    autocomplete: 'off',
    autofocus: true,
    placeholder: words.placeholder,
    'aria-describedby': hintId,
  })
  const { element: addresses, chosen } = chooseAddress(currentState().addresses)
  const submit = h('button', { type: 'submit', class: 'action primary' }, words.submit)
  applyUsable(submit)
  const buttons = h('div', { class: 'buttons' }, plainButton(words.cancel, dialog.close), submit)
  const form = h(
    'form',
    {},
    h('p', {}, words.intro),
    h(
      'div',
      { class: 'field' },
      h('label', { class: 'label', for: id }, words.label),
      label,
      h('p', { id: hintId, class: 'note' }, words.labelHint),
    ),
    addresses,
    errors,
    buttons,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void perform(submit, { errors, run: add })
  })

  async function add() {
    const pairing = await addDevice({ label: label.value.trim(), url: chosen() })
    // Cancelled meanwhile: nobody will ever see its password.
    if (!dialog.isOpen()) return revokeDevice(pairing.id)
    announce(strings.devices.announceAdded(pairing.label))
    showPairing(dialog, pairing, { seenBefore: undefined })
  }

  dialog.show(words.title, form)
}
