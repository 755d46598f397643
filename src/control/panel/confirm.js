// @ts-check
/**
 * Questions before what cannot be undone; each says what will happen.
 * @module
 */

import { actionButton, errorLine, plainButton } from './actions.js'
import { chooseAddress } from './add-device.js'
import { revokeDevice, rotateDevice, signOutAll } from './api.js'
import { openDialog } from './dialog.js'
import { announce, h } from './dom.js'
import { showPairing } from './pairing.js'
import { currentState, findDevice } from './state.js'
import { strings } from './strings.js'

/** @import { Device } from './state.js' */

/** Asks before a device gets a new password. */
export function confirmRotate(/** @type {Device} */ device, /** @type {HTMLElement} */ fallback) {
  const dialog = openDialog({ fallback, isWide: true })
  const { element, chosen } = chooseAddress(currentState().addresses)
  ask({
    dialog,
    words: strings.rotate(device),
    more: [element],
    look: 'primary',
    run: async () => {
      const pairing = await rotateDevice(device.id, chosen())
      // By now nobody gets in with the old password: what comes later came with the new one.
      const seenBefore = findDevice(device.id)?.lastSeenAt ?? undefined
      // Too late to cancel: the old password is dead, so the new one has to be shown.
      const open = dialog.isOpen() ? dialog : openDialog({ fallback, isWide: true })
      showPairing(open, pairing, seenBefore)
    },
  })
}

/** Asks before a device is removed. */
export function confirmRevoke(/** @type {Device} */ device, /** @type {HTMLElement} */ fallback) {
  const dialog = openDialog({ fallback })
  ask({
    dialog,
    words: strings.revoke(device),
    look: 'danger',
    run: async () => {
      await revokeDevice(device.id)
      announce(strings.devices.announceRemoved(device.label))
      dialog.close()
    },
  })
}

/** Asks before all pages of the panel are signed out. */
export function confirmSignOut(/** @type {HTMLElement} */ fallback) {
  const dialog = openDialog({ fallback })
  ask({
    dialog,
    words: strings.signOut,
    look: 'danger',
    run: async () => {
      await signOutAll()
      dialog.close()
    },
  })
}

/**
 * @typedef {object} Question
 * @property {import('./dialog.js').Dialog} dialog
 * @property {{ title: string, effects: readonly string[], submit: string }} words
 * @property {readonly Node[]} [more]
 * @property {'primary' | 'danger'} look
 * @property {() => Promise<void>} run
 */

function ask(/** @type {Question} */ { dialog, words, more = [], look, run }) {
  const { title, effects, submit } = words
  const errors = errorLine()
  const list = h('ul', { class: 'effects' }, ...effects.map((effect) => h('li', {}, effect)))
  const cancel = plainButton(strings.add.cancel, dialog.close)
  cancel.autofocus = true
  const button = actionButton({ label: submit, look, errors, run })
  const buttons = h('div', { class: 'buttons' }, cancel, button)
  dialog.show(title, list, ...more, errors, buttons)
}
