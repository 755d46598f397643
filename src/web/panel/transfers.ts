/** The files that are on their way, while they are. @module */

import { h, inOrder, renderList, section, setText } from '../shared/dom.ts'
import { formatBytes } from '../shared/language.ts'
import { icon } from './icons.ts'
import { findDevice, type Transfer } from './state.ts'
import { strings } from './strings.ts'

const words = strings.transfers

/** The list of files that are on their way. */
export function createTransfersView() {
  const list = h('ul', { class: 'recent' })
  const card = section({ class: 'card' }, h('header', {}, h('h2', {}, words.heading)), list)

  function render(transfers: readonly Transfer[]) {
    card.hidden = transfers.length === 0
    const keyed = transfers.map((transfer, index) => ({ transfer, key: keyOf(transfer, index) }))
    renderList(list, keyed, { key: ({ key }) => key, create: createRow })
  }

  return { section: card, render }
}

/** A browser may fetch one file in several ranges at once. */
function keyOf({ direction, deviceId, name }: Transfer, index: number) {
  return `${index} ${direction} ${deviceId} ${name}`
}

function createRow() {
  const name = h('h3', { dir: 'auto' })
  const who = h('span', { dir: 'auto' })
  const size = h('span')
  const bar = h('progress', { max: 1 })
  const facts = h('p', { class: 'facts' }, who, size)
  const sign = h('span', { class: 'sign' }, icon('File'))
  const element = h('li', {}, sign, h('div', { class: 'grow' }, name, bar, facts))

  function update({ transfer }: { transfer: Transfer }) {
    const { direction, deviceId, bytes, total } = transfer
    const title = inOrder(transfer.name)
    const device = findDevice(deviceId)?.label ?? words.here
    setText(name, title)
    setText(who, direction === 'in' ? words.from(device) : words.to(device))
    const done = formatBytes(bytes)
    setText(size, total === null ? done : words.of(done, formatBytes(total)))
    bar.setAttribute('aria-label', title)
    if (total === null) bar.removeAttribute('value')
    else bar.value = bytes / Math.max(total, 1)
  }

  return { element, update }
}
