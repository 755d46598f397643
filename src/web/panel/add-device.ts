/** The dialog that adds a device: a name and an address, then what connects it. @module */

import { announce, applyUsable, errorLine, perform } from './actions.ts'
import { addDevice, revokeDevice } from './api.ts'
import { openDialog } from './dialog.ts'
import { button, h, newId } from '../shared/dom.ts'
import { showPairing } from './pairing.ts'
import { createTextActions } from '../shared/text-actions.ts'
import { currentState, trustPageFor, type Address } from './state.ts'
import { strings } from './strings.ts'

const words = strings.add

const MAX_LABEL_LENGTH = 64

/** Opens the dialog that pairs a device. */
export function openAddDevice({ fallback }: { fallback: HTMLElement }) {
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
  const buttons = h('div', { class: 'buttons' }, button(words.cancel, dialog.close), submit)
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
    showPairing(dialog, pairing)
  }

  dialog.show(words.title, form)
}

/**
 * The choice of the address that a device will use: only a choice when there are several.
 *
 * @param addresses The likeliest first.
 */
export function chooseAddress(addresses: readonly Address[]): {
  element: HTMLElement
  chosen: () => string | undefined
} {
  const [first] = addresses
  if (addresses.length <= 1) {
    const url = h('p', { class: 'mono break' }, first?.url ?? '')
    const isLocal = first?.kind === 'loopback'
    const warning = h('p', { class: 'trouble' }, words.loopback)
    const element = h('div', { class: 'field' }, h('p', { class: 'label' }, words.addressOnly), url)
    if (isLocal) element.append(warning)
    return { element, chosen: () => first?.url }
  }
  const options = addresses.map(({ url, via, kind }, index) => {
    const input = h('input', { type: 'radio', name: 'address', value: url, checked: index === 0 })
    const where = via === '' ? words.kinds[kind] : `${words.kinds[kind]} (${via})`
    const secure = url.startsWith('https:') ? `, ${words.secure}` : ''
    const hint = index === 0 ? `${where}, ${words.likely}` : `${where}${secure}`
    const name = h('span', { class: 'mono break' }, url)
    const text = h('span', {}, name, h('span', { class: 'note' }, hint))
    return { input, label: h('label', { class: 'option' }, input, text) }
  })
  const legend = h('legend', { class: 'label' }, words.address)
  const trust = h('div', { class: 'field', role: 'status' })
  const element = h(
    'fieldset',
    { class: 'field' },
    legend,
    ...options.map(({ label }) => label),
    trust,
  )
  const chosen = () => options.find(({ input }) => input.checked)?.input.value
  element.addEventListener('change', () => {
    const page = trustPageFor(chosen() ?? '')
    trust.replaceChildren(...(page === undefined ? [] : tellTrust(page)))
  })
  return { element, chosen }
}

/** How a phone is told to trust this computer, which it has to before it scans. */
function tellTrust(page: string) {
  const failure = strings.errors.away
  const { toggle, code } = createTextActions({ text: page, isWhole: true, failure })
  const way = h('span', { class: 'mono break' }, page)
  return [h('p', { class: 'note' }, words.trust, way), ...toggle, code]
}
