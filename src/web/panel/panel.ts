/**
 * The panel: puts the page together, and brings it up to date with each state of the daemon.
 * @module
 */

import { announce, announcer, setUsable } from './actions.ts'
import { ApiError, forgetToken, parseState, readState, takeToken } from './api.ts'
import { createDaemonView } from './daemon.ts'
import { createDevicesView } from './devices.ts'
import { h, section, setAttribute, setText } from '../shared/dom.ts'
import { icon } from './icons.ts'
import { createHappenedView } from './happened.ts'
import { createItemView } from './item.ts'
import { follow, type Way } from '../shared/follow.ts'
import { createPauseView } from './pause.ts'
import { createProblemsView } from './problems.ts'
import { createPushView } from './push.ts'
import { createRecentView } from './recent.ts'
import { currentState, hasState, onState, publishState } from './state.ts'
import { openShared } from './share-events.ts'
import { strings } from './strings.ts'
import { setServerTime, startTicking } from './time.ts'
import { createTransfersView } from './transfers.ts'

document.documentElement.lang = strings.lang
takeToken()

/** The daemon is on this machine: asking costs nothing, and people watch. */
const MAX_DELAY_MS = 5_000

let link: Way = 'trying'

/** The last way that was found out. */
let known: Way = 'trying'

const recent = createRecentView()
const item = createItemView(() => recent.render(currentState()))
const push = createPushView()
const transfers = createTransfersView()
const pause = createPauseView()
const devices = createDevicesView()
const daemon = createDaemonView()
const happened = createHappenedView()
const problems = createProblemsView()

const pill = h('p', { class: 'pill' }, h('span', { class: 'dot' }), h('span'))
const logo = h('img', { class: 'logo', src: '/icon.svg', alt: '' })
const brand = h('div', { class: 'brand' }, logo, h('h1', {}, strings.name))
// A tab that is opened with an opener has a copy of what this one keeps: its token.
const newTab = h(
  'a',
  { class: 'button', href: '/', target: '_blank', rel: 'opener' },
  strings.newTab,
)
const top = h('header', { class: 'top' }, brand, h('div', { class: 'heading' }, newTab, pill))
const loading = h('p', { class: 'loading' }, strings.loading)
const left = h('div', { class: 'column' }, item.section, transfers.section, push.section)
const right = h('div', { class: 'column' }, pause.section, devices.section, daemon.section)
const columns = h('div', { class: 'columns', hidden: true }, left, right)
const signedOut = createSignedOut()
const main = h('main', {}, problems.section, loading, signedOut, columns)

document.body.replaceChildren(top, main, announcer)

/** Room for two columns. In one the devices come first: the recent items are many. */
const wide = matchMedia('(min-width: 60rem)')
wide.addEventListener('change', place)
place()

onState((state) => {
  setServerTime(state.serverTimeMs)
  item.render(state.item)
  transfers.render(state.transfers)
  recent.render(state)
  pause.render(state.status)
  devices.render(state.devices)
  daemon.render(state)
  happened.render(state.happenings)
})

follow({
  open: openShared,
  take: (data) => publishState(parseState(data)),
  look: async (signal) => {
    const state = await readState(signal)
    if (!signal.aborted) publishState(state)
  },
  wayOf: (error) => {
    if (!(error instanceof ApiError)) throw error
    if (error.status !== 401) return 'away'
    // That daemon has ended, or has signed everybody out. No other one will know this token.
    forgetToken()
    return 'refused'
  },
  maxDelayMs: MAX_DELAY_MS,
  onWay: (next) => {
    if (next === 'away' && known !== 'away' && hasState()) announce(strings.announceAway)
    if (next === 'live' && known === 'away') announce(strings.announceBack)
    if (next === 'refused') announce(strings.errors.signedOut)
    link = next
    if (next !== 'trying') known = next
    render()
  },
})
onState(render)
render()
startTicking()

function place() {
  if (wide.matches) return left.append(recent.section, happened.section)
  devices.section.after(recent.section)
  right.append(happened.section)
}

function render() {
  const isAway = known === 'away'
  const isSignedOut = known === 'refused'
  if (isSignedOut) for (const dialog of document.querySelectorAll('dialog')) dialog.close()
  const isPaused = hasState() && currentState().status.paused != null
  const text = strings.link[link]
  setText(pill.lastElementChild ?? pill, link === 'live' && isPaused ? strings.link.paused : text)
  setAttribute(document.documentElement, 'data-link', link === 'live' && isPaused ? 'paused' : link)
  signedOut.hidden = !isSignedOut
  // A typed text is lost with the page otherwise, and a file on its way has ended.
  if (isSignedOut) signedOut.append(push.errors, ...(push.text.value === '' ? [] : [push.text]))
  columns.hidden = isSignedOut || !hasState()
  newTab.hidden = isSignedOut
  loading.hidden = isSignedOut || isAway || hasState()
  const isShown = hasState() && !isSignedOut
  problems.render(isShown ? currentState() : undefined, { isAway })
  setUsable(known === 'live')
}

function createSignedOut() {
  const { heading, why, tab, run, command, then } = strings.signedOut
  return section(
    { class: 'card signed-out', hidden: true },
    h('span', { class: 'sign' }, icon('terminal')),
    h('h2', {}, heading),
    h('p', {}, why),
    h('p', {}, tab),
    h('p', {}, run),
    h('pre', { class: 'command' }, h('code', {}, command)),
    h('p', { class: 'note' }, then),
  )
}
