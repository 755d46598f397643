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
  const words = strings.rotate
  const dialog = openDialog({ fallback, isWide: true })
  const { element, chosen } = chooseAddress(currentState().addresses)
  ask({
    dialog,
    title: words.title(device.label),
    effects: withStreams(device, words.effects(device.label)),
    extra: element,
    submit: words.submit,
    look: 'primary',
    run: async () => {
      const pairing = await rotateDevice(device.id, chosen())
      // By now nobody gets in with the old password: what comes later came with the new one.
      const seenBefore = findDevice(device.id)?.lastSeenAt ?? undefined
      // Too late to cancel: the old password is dead, so the new one has to be shown.
      const open = dialog.isOpen() ? dialog : openDialog({ fallback, isWide: true })
      showPairing(open, pairing, { seenBefore })
    },
  })
}

/** Asks before a device is removed. */
export function confirmRevoke(/** @type {Device} */ device, /** @type {HTMLElement} */ fallback) {
  const words = strings.revoke
  const dialog = openDialog({ fallback })
  ask({
    dialog,
    title: words.title(device.label),
    effects: withStreams(device, words.effects(device.label)),
    submit: words.submit,
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
  const words = strings.signOut
  const dialog = openDialog({ fallback })
  ask({
    dialog,
    title: words.title,
    effects: words.effects,
    submit: words.submit,
    look: 'danger',
    run: async () => {
      await signOutAll()
      dialog.close()
    },
  })
}

/**
 * @param {object} question
 * @param {import('./dialog.js').Dialog} question.dialog
 * @param {string} question.title
 * @param {readonly string[]} question.effects
 * @param {Node} [question.extra]
 * @param {string} question.submit
 * @param {'primary' | 'danger'} question.look
 * @param {() => Promise<void>} question.run
 */
function ask({ dialog, title, effects, extra, submit, look, run }) {
  const errors = errorLine()
  const list = h('ul', { class: 'effects' }, ...effects.map((effect) => h('li', {}, effect)))
  const cancel = plainButton(strings.add.cancel, dialog.close)
  cancel.autofocus = true
  const button = actionButton({ label: submit, look, errors, run })
  const buttons = h('div', { class: 'buttons' }, cancel, button)
  dialog.show(title, list, ...(extra === undefined ? [] : [extra]), errors, buttons)
}

/**
 * @param {Device} device
 * @param {readonly string[]} effects
 */
function withStreams({ streams }, [first = '', ...rest]) {
  return [first, strings.openConnections(streams), ...rest]
}
