/** Questions before what cannot be undone; each says what will happen. @module */

import { actionButton, announce, errorLine } from './actions.ts'
import { chooseAddress } from './add-device.ts'
import { revokeDevice, rotateDevice, signOutAll } from './api.ts'
import { openDialog } from './dialog.ts'
import { button, h } from '../shared/dom.ts'
import { showPairing } from './pairing.ts'
import { currentState, findDevice, type Device } from './state.ts'
import { strings } from './strings.ts'

/** Asks before a device gets a new password. */
export function confirmRotate(device: Device, fallback: HTMLElement) {
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
export function confirmRevoke(device: Device, fallback: HTMLElement) {
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
export function confirmSignOut(fallback: HTMLElement) {
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

interface Question {
  readonly dialog: import('./dialog.ts').Dialog
  readonly words: { title: string; effects: readonly string[]; submit: string }
  readonly more?: readonly Node[]
  readonly look: 'primary' | 'danger'
  readonly run: () => Promise<void>
}

function ask({ dialog, words, more = [], look, run }: Question) {
  const { title, effects, submit } = words
  const errors = errorLine()
  const list = h('ul', { class: 'effects' }, ...effects.map((effect) => h('li', {}, effect)))
  const cancel = button(strings.add.cancel, dialog.close)
  cancel.autofocus = true
  const act = actionButton({ label: submit, look, errors, run })
  const buttons = h('div', { class: 'buttons' }, cancel, act)
  dialog.show(title, list, ...more, errors, buttons)
}
