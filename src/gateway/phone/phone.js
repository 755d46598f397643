// @ts-check
/**
 * The page that a phone opens by scanning the code: its clipboard, with nothing installed.
 * @module
 */

import { forgetAccount, hasOthers, keepAccount, linkOf, takeAccount } from './account.js'
import { button, h, setText } from './dom.js'
import { createItemView } from './item.js'
import { follow } from './live.js'
import { createSendView } from './send.js'
import { offerInstall, takeShared, withdraw } from './shared.js'
import { strings } from './strings.js'

/** @import { Account } from './account.js' */

const SURE_MS = 4000

document.documentElement.lang = strings.lang
const [way, main] = [find('.way'), find('main')]

start()
offerInstall()
// A code that is scanned while the page is open changes nothing but the fragment.
window.addEventListener('hashchange', () => location.hash.length > 1 && location.reload())

/** An element of the page that is painted before this has run. */
function find(/** @type {string} */ selector) {
  const element = document.querySelector(selector)
  if (element === null) throw new Error(`The page has no ${selector}`)
  return element
}

function start() {
  const account = takeAccount()
  if (account === 'damaged') return farewell(strings.damaged, strings.scanHint)
  if (account === undefined) return farewell(strings.scan, strings.scanHint)
  const item = createItemView()
  const send = createSendView()
  const trouble = h('p', { class: 'trouble', role: 'status' })
  const again = button(strings.again, () => live.reopen())
  const away = h('section', { class: 'card', hidden: true }, trouble, again)
  const live = follow({
    pull: item.pull,
    onWay: (state) => {
      showWay(state)
      away.hidden = state !== 'away'
      setText(trouble, state === 'away' ? strings.failures.away : '')
      if (state === 'live') keepAccount()
      if (state !== 'refused') return
      send.end()
      // Another code was accepted before, or in another tab.
      if (hasOthers()) return location.reload()
      forgetAccount()
      farewell(strings.removed, strings.scanHint)
    },
  })
  const leave = () => {
    live.end()
    send.end()
    forgetAccount()
    void withdraw()
    showWay('forgotten')
    farewell(strings.forgotten, strings.forgottenHint)
  }
  showWay('trying')
  main.replaceChildren(away, item.section, send.section, createFooter(account, leave))
  // A browser that keeps nothing has nothing to give either.
  takeShared().then(send.offer, () => {})
}

function createFooter(/** @type {Account} */ account, /** @type {() => void} */ leave) {
  const link = linkOf(account)
  const forget = button(strings.forget, () => {
    if (forget.textContent === strings.forgetSure) return leave()
    setText(forget, strings.forgetSure)
    setTimeout(() => setText(forget, strings.forget), SURE_MS)
  })
  const app = (/** @type {string} */ scheme, /** @type {string} */ label) =>
    h('a', { class: 'button', href: `${scheme}://${link}` }, label)
  const apps = h(
    'p',
    { class: 'tools' },
    app('clip', strings.clipApp),
    app('uniclipboard', strings.uniclip),
  )
  const inApp = h(
    'details',
    {},
    h('summary', {}, strings.openInApp),
    h('p', {}, strings.appHint),
    apps,
  )
  return h('footer', {}, inApp, forget)
}

/** @param {import('./live.js').Way | 'forgotten'} state */
function showWay(state) {
  document.documentElement.dataset['way'] = state
  setText(way, strings.ways[state])
}

function farewell(/** @type {string} */ title, /** @type {string} */ hint) {
  const card = h('section', { class: 'card' }, h('h2', {}, title), h('p', {}, hint))
  main.replaceChildren(card)
}
