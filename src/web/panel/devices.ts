/**
 * Who is paired: when and where each was seen last, and the ways to change or remove it.
 * @module
 */

import { actionButton } from './actions.ts'
import { openAddDevice } from './add-device.ts'
import { confirmRevoke, confirmRotate } from './confirm.ts'
import { h, renderList, row, section, setAttribute, setText } from '../shared/dom.ts'
import { formatClient } from '../../lib/format-client.ts'
import { icon } from './icons.ts'
import { findDevice, type Device } from './state.ts'
import { strings } from './strings.ts'
import { createTime, setTime } from './time.ts'

const words = strings.devices

/** The list of devices. */
export function createDevicesView() {
  const heading = h('h2', { tabindex: -1 }, words.heading)
  const number = h('span', { class: 'count' })
  const open = () => openAddDevice({ fallback: heading })
  const add = actionButton({ label: words.add, look: 'primary', run: open })
  const header = h('header', {}, h('div', { class: 'heading' }, heading, number), add)
  const list = h('ul', { class: 'devices' })
  const empty = h(
    'div',
    { class: 'empty' },
    h('span', { class: 'sign' }, icon('phone')),
    h('div', {}, h('h3', {}, words.none), h('p', {}, words.noneHint)),
  )

  function render(devices: readonly Device[]) {
    list.hidden = devices.length === 0
    empty.hidden = devices.length > 0
    setText(number, devices.length === 0 ? '' : String(devices.length))
    renderList(list, devices, {
      key: (device) => device.id,
      create: (device) => createDevice(device, heading),
      fallback: heading,
    })
  }

  return { section: section({ class: 'card' }, header, list, empty), render }
}

function createDevice({ id, kind, username, label }: Device, fallback: HTMLElement) {
  const name = h('h3', { dir: 'auto' }, label)
  const user = h('span', { class: 'mono' }, username)
  const badge = h('span', { class: 'badge' })
  const seen = createTime()
  const never = h('span', {}, words.never)
  const app = h('span')
  const address = h('span', { class: 'mono' })
  const streams = h('dd')
  const rotate = actionButton({ label: words.rotate, run: () => ask(confirmRotate) })
  const revoke = actionButton({ label: words.revoke, look: 'quiet', run: () => ask(confirmRevoke) })
  const about = h('p', { class: 'facts' }, h('span', {}, words.kinds[kind]), user)
  const rows = [
    row(words.lastSeen, h('dd', {}, seen, never)),
    row(words.app, h('dd', {}, app)),
    row(words.address, h('dd', {}, address)),
    row(words.streams, streams),
  ]
  const element = h(
    'li',
    {},
    h('span', { class: 'sign' }, icon(kind)),
    h('div', { class: 'who' }, h('div', { class: 'heading' }, name, badge), about),
    h('dl', { class: 'grid' }, ...rows),
    h('div', { class: 'buttons' }, rotate, revoke),
  )

  /** Asks about the device as it is now, unless it is gone. */
  function ask(confirm: typeof confirmRotate) {
    const device = findDevice(id)
    if (device !== undefined) confirm(device, fallback)
  }

  function update(device: Device) {
    setText(name, device.label)
    const isListening = device.streams > 0
    setText(badge, !device.active ? words.inactive : isListening ? words.connected : '')
    setAttribute(badge, 'data-state', !device.active ? 'bad' : isListening ? 'good' : undefined)
    setAttribute(rotate, 'aria-label', words.rotateName(device.label))
    setAttribute(revoke, 'aria-label', words.revokeName(device.label))
    const at = device.lastSeenAt ?? undefined
    setAttribute(seen, 'hidden', at === undefined)
    setAttribute(never, 'hidden', at !== undefined)
    if (at !== undefined) setTime(seen, Date.parse(at))
    const client = device.lastClient ?? ''
    setText(app, client === '' ? words.unknown : formatClient(client))
    setAttribute(app, 'title', client === '' ? undefined : client)
    setText(address, device.lastSeenAddress ?? words.unknown)
    setText(streams, String(device.streams))
  }

  return { element, update }
}
