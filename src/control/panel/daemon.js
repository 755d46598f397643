// @ts-check
/**
 * How the daemon itself is: clipboard, listeners, storage, version.
 * @module
 */

import { actionButton } from './actions.js'
import { confirmSignOut } from './confirm.js'
import { h, newId, renderList, setAttribute, setText } from './dom.js'
import { formatBytes } from './format.js'
import { strings } from './strings.js'
import { createTime, setTime } from './time.js'

/** @import { Listener, Status } from './state.js' */

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

  function render(/** @type {Status} */ status) {
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
      create: () => stateRow(words.peer),
      update: (element, { name, state, error }) =>
        setState(element, `${name}: ${words.peerStates[state]}`, error ?? ''),
    })
    renderList(buses, status.bus === null ? [] : [status.bus], {
      key: ({ group }) => group,
      create: () => stateRow(words.bus),
      update: (element, { group, state, members, refused, error }) => {
        const text = `${group}: ${words.busStates[state]}, ${words.busMembers(members)}`
        setState(element, text, error ?? words.busRefused(refused))
      },
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

function stateRow(/** @type {string} */ term) {
  return row(term, h('dd', {}, h('span', { class: 'break' }), h('p', { class: 'trouble' })))
}

/**
 * @param {Element} element From {@link stateRow}.
 * @param {string} text
 * @param {string} trouble
 */
function setState(element, text, trouble) {
  const [what, why] = element.lastElementChild?.children ?? []
  if (what !== undefined) setText(what, text)
  if (why !== undefined) setText(why, trouble)
}

function row(/** @type {string} */ term, /** @type {Node} */ value) {
  return h('div', {}, h('dt', {}, term), value)
}
