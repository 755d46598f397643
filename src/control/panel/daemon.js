// @ts-check
/**
 * How the daemon itself is: clipboard, listeners, storage, version.
 *
 * @module
 */

import { actionButton } from './actions.js'
import { confirmSignOut } from './confirm.js'
import { h, newId, renderList, setAttribute, setText } from './dom.js'
import { formatBytes } from './format.js'
import { strings } from './strings.js'
import { createTime, setTime } from './time.js'

/** @import { Bus, Listener, Peer, Status } from './state.js' */

const words = strings.daemon

export function createDaemonView() {
  const id = newId()
  const heading = h('h2', { id, tabindex: -1 }, words.heading)
  const mode = h('dd')
  const version = h('dd')
  const started = createTime()
  const clipboard = h('span')
  const clipboardError = h('p', { class: 'trouble' })
  const folder = h('dd', { class: 'mono break' })
  const free = h('dd')
  const staged = h('dd')
  const listeners = h('div', { class: 'listeners' })
  const peers = h('div', { class: 'listeners' })
  const buses = h('div', { class: 'listeners' })
  const signOut = actionButton({
    label: words.signOut,
    look: 'quiet',
    run: () => confirmSignOut(heading),
  })
  const section = h(
    'section',
    { class: 'card daemon', 'aria-labelledby': id },
    h('header', {}, heading),
    h(
      'dl',
      { class: 'rows' },
      row(words.clipboard, h('dd', {}, clipboard, clipboardError)),
      listeners,
      peers,
      buses,
      row(words.free, free),
      row(words.staged, staged),
      row(words.folder, folder),
      row(words.mode, mode),
      row(words.started, h('dd', {}, started)),
      row(words.version, version),
    ),
    h('footer', {}, signOut),
  )

  /** @param {Status} status */
  function render(status) {
    const { storage } = status
    setText(mode, status.mode == null ? '' : words.modes[status.mode])
    setText(version, status.version)
    setText(clipboard, words.clipboards[status.clipboard] ?? status.clipboard)
    setText(clipboardError, status.clipboardError ?? '')
    setText(folder, storage.dataDir)
    setText(free, formatBytes(storage.freeBytes))
    setText(staged, words.uploads(storage.stagedUploads, formatBytes(storage.stagedBytes)))
    setAttribute(started, 'hidden', status.startedAt == null)
    if (status.startedAt != null) setTime(started, Date.parse(status.startedAt))
    renderList(listeners, status.listeners, {
      key: ({ name }) => name,
      create: ({ name }) => row(words.listeners[name], h('dd')),
      update: updateListener,
    })
    renderList(peers, status.peers, {
      key: ({ name }) => name,
      create: () =>
        row(words.peer, h('dd', {}, h('span', { class: 'break' }), h('p', { class: 'trouble' }))),
      update: updatePeer,
    })
    renderList(buses, status.bus == null ? [] : [status.bus], {
      key: ({ group }) => group,
      create: () =>
        row(words.bus, h('dd', {}, h('span', { class: 'break' }), h('p', { class: 'trouble' }))),
      update: updateBus,
    })
  }

  return { section, render }
}

/**
 * @param {Element} element
 * @param {Listener} listener
 */
function updateListener(element, { urls, error }) {
  const value = element.lastElementChild
  const text = [...urls, error ?? ''].join(' ')
  // Rebuilt only when it changed; nothing in it takes the focus.
  if (value === null || value.getAttribute('data-text') === text) return
  value.setAttribute('data-text', text)
  value.replaceChildren(
    ...urls.map((url) => h('span', { class: 'mono break line' }, url)),
    ...(error == null ? [] : [h('p', { class: 'trouble' }, error)]),
  )
}

/**
 * @param {Element} element
 * @param {Peer} peer
 */
function updatePeer(element, { name, state, error }) {
  const [what, trouble] = element.lastElementChild?.children ?? []
  if (what !== undefined) setText(what, `${name}: ${words.peerStates[state]}`)
  if (trouble !== undefined) setText(trouble, error ?? '')
}

/**
 * @param {Element} element
 * @param {Bus} bus
 */
function updateBus(element, { group, state, members, refused, error }) {
  const [what, trouble] = element.lastElementChild?.children ?? []
  const text = `${group}: ${words.busStates[state]}, ${words.busMembers(members)}`
  if (what !== undefined) setText(what, text)
  if (trouble !== undefined) setText(trouble, error ?? words.busRefused(refused))
}

/**
 * @param {string} term
 * @param {Node} value
 */
function row(term, value) {
  return h('div', {}, h('dt', {}, term), value)
}
