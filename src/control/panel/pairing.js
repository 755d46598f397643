// @ts-check
/**
 * What connects a device, shown once: QR code, link, credentials, and whether it worked.
 *
 * The secrets are in this dialog and nowhere else; closing it forgets them.
 *
 * @module
 */

import { plainButton } from './actions.js'
import { createCopyLink } from './copy-link.js'
import { createConnectionTest } from './connection-test.js'
import { h, newId, setText } from './dom.js'
import { drawQr } from './qr.js'
import { strings } from './strings.js'

/** @import { Pairing } from './state.js' */

const words = strings.pairing

/** As many as any password: how long it is does not show. */
const CONCEALED = '•'.repeat(12)

/**
 * @param {import('./dialog.js').Dialog} dialog
 * @param {Pairing} pairing
 * @param {{ seenBefore: string | undefined }} options When the device was seen last, with another
 *   password.
 */
export function showPairing(dialog, pairing, { seenBefore }) {
  const { id, label, username, password, url, link, warning, qr } = pairing
  const test = createConnectionTest({ id, label, url, seenBefore })
  dialog.onClose(test.stop)

  const figure = h(
    'figure',
    {},
    drawQr(qr, words.qr(label)),
    h('figcaption', {}, h('strong', {}, words.scan), ' ', words.caption),
  )
  const handId = newId()
  const hand = h(
    'section',
    { class: 'hand', 'aria-labelledby': handId },
    h('h3', { id: handId }, words.hand),
    h('p', { class: 'note' }, words.handHint),
    h(
      'dl',
      { class: 'rows' },
      row(words.url, h('dd', { class: 'mono break' }, url)),
      row(words.username, h('dd', { class: 'mono break' }, username)),
      row(words.password, concealed(password)),
    ),
    h('p', { class: 'note' }, words.once),
    createCopyLink(link),
  )
  const columns = h(
    'div',
    { class: 'pairing' },
    figure,
    h('div', { class: 'side' }, test.element, hand),
  )
  const buttons = h('div', { class: 'buttons' }, plainButton(words.done, dialog.close))
  const problem = warning == null ? [] : [h('p', { class: 'trouble' }, warning)]
  dialog.show(words.title(label), ...problem, columns, buttons)
}

/** @param {string} password */
function concealed(password) {
  const text = h('span', { class: 'mono break' }, CONCEALED)
  const button = plainButton(words.reveal, () => {
    const isShown = text.textContent === password
    setText(text, isShown ? CONCEALED : password)
    setText(button, isShown ? words.reveal : words.conceal)
  })
  return h('dd', { class: 'secret' }, text, button)
}

/**
 * @param {string} term
 * @param {Node} value
 */
function row(term, value) {
  return h('div', {}, h('dt', {}, term), value)
}
