// @ts-check
/**
 * The choice of the address that a device will use: only a choice when there are several.
 *
 * @module
 */

import { h } from './dom.js'
import { strings } from './strings.js'

/** @import { Address } from './state.js' */

const words = strings.add

/**
 * @param {readonly Address[]} addresses The likeliest first.
 * @returns {{ element: HTMLElement, chosen: () => string | undefined }}
 */
export function chooseAddress(addresses) {
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
    const hint = index === 0 ? `${where}, ${words.likely}` : where
    const name = h('span', { class: 'mono break' }, url)
    const text = h('span', {}, name, h('span', { class: 'note' }, hint))
    return { input, label: h('label', { class: 'option' }, input, text) }
  })
  const legend = h('legend', { class: 'label' }, words.address)
  const element = h('fieldset', { class: 'field' }, legend, ...options.map(({ label }) => label))
  return { element, chosen: () => options.find(({ input }) => input.checked)?.input.value }
}
