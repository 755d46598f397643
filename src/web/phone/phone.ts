/**
 * The page that a phone opens by scanning the code: its clipboard, with nothing installed.
 * @module
 */

import {
  base,
  followTabs,
  forgetAccount,
  keepAccount,
  KEY,
  linkOf,
  pageOf,
  takeAccount,
  takeOthers,
} from './account.ts'
import { ClientError } from '../../client/client-error.ts'
import { DOOR, type State } from './api.ts'
import { ask, failureOf } from '../shared/request.ts'
import { button, h, setText } from '../shared/dom.ts'
import { createItemView } from './item.ts'
import { follow, type Way } from '../shared/follow.ts'
import { createSendView } from './send.ts'
import { offerInstall, takeShared, withdraw } from './shared.ts'
import { strings } from './strings.ts'
import type { Account } from './account.ts'

/** Between two attempts to reach the computer. */
const MAX_DELAY_MS = 10_000

const SURE_MS = 4000

document.documentElement.lang = strings.lang
const [way, main, title] = [find('.way'), find('main'), find('h1')]

/** Ends all that is under way for an account. */
let end: (() => void) | undefined

/** Holds what is typed, and nothing else does, from one account to the next. */
let field: HTMLTextAreaElement | undefined

/** The rows of files, also of those that the account before has not sent. */
const files = h('ul', { class: 'uploads' })

start()
offerInstall()
// A code that is scanned while the page is open changes nothing but the fragment.
window.addEventListener('hashchange', () => location.hash.length > 1 && start())
// A camera mostly opens another tab, and whoever signs out means all of them.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key === KEY && followTabs(newValue === null)) start()
})
// Safari tells a page nothing that is kept to come back to.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && followTabs(true)) start()
})

/** An element of the page that is painted before this has run. */
function find(selector: string) {
  const element = document.querySelector(selector)
  if (element === null) throw new Error(`The page has no ${selector}`)
  return element
}

function start() {
  end?.()
  const account = takeAccount()
  showWay(typeof account === 'object' ? 'trying' : 'forgotten')
  if (account === 'damaged') return farewell(strings.damaged, strings.scanHint)
  if (account === undefined) return farewell(strings.scan, strings.scanHint)
  const paused = h('p', { class: 'card trouble', role: 'status', hidden: true }, strings.paused)
  let trouble: 'away' | 'elsewhere' = 'away'
  const item = createItemView((state) => {
    keepAccount(state.id)
    trouble = 'away'
    setText(title, state.name || 'clipgate')
    paused.hidden = !state.paused
    secure.show(state.https)
  })
  const secure = createSecureView(account)
  const send = createSendView(files, field?.value ?? '', () => live.lose())
  field = send.field
  const why = h('p', { class: 'trouble', role: 'status' })
  const again = button(strings.again, () => live.reopen())
  const away = h('section', { class: 'card', hidden: true }, why, again)
  const live = follow({
    open: (signal) => ask(DOOR, '/api/sse/clipboard', { signal }),
    take: (_, signal) => item.pull(signal),
    look: item.look,
    wayOf: (error) => {
      if (!(error instanceof ClientError)) throw error
      const failure = failureOf(error)
      trouble = failure === 'elsewhere' ? failure : 'away'
      return failure === 'refused' ? failure : 'away'
    },
    maxDelayMs: MAX_DELAY_MS,
    onWay: (state) => {
      showWay(state)
      // The failure stays in sight until an answer comes.
      if (state === 'trying') return
      away.hidden = state !== 'away'
      setText(why, state === 'away' ? strings.failures[trouble] : '')
      if (state === 'live') send.showBack()
      if (state !== 'refused') return
      // Another code was accepted before, or in another tab.
      if (takeOthers()) return start()
      stop()
      forgetAccount()
      farewell(strings.removed, strings.scanHint)
    },
  })
  const stop = () => {
    live.end()
    send.end()
    end = undefined
  }
  end = stop
  const leave = () => {
    stop()
    field = undefined
    files.replaceChildren()
    forgetAccount()
    void withdraw()
    showWay('forgotten')
    farewell(strings.forgotten, strings.forgottenHint)
  }
  main.replaceChildren(
    ...[
      away,
      send.progress,
      paused,
      item.section,
      send.section,
      item.recent,
      createFooter(account, secure.element, leave),
    ],
  )
  // A browser that keeps nothing has nothing to give either.
  takeShared().then(send.offer, () => {})
}

function createFooter(account: Account, secure: Element, leave: () => void) {
  const link = linkOf(account)
  const forget = button(strings.forget, () => {
    if (forget.textContent === strings.forgetSure) return leave()
    setText(forget, strings.forgetSure)
    setTimeout(() => setText(forget, strings.forget), SURE_MS)
  })
  const app = (scheme: string, label: string) =>
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
  return h('footer', {}, secure, inApp, forget)
}

/** The way to the same page with HTTPS, where this one is without it. */
function createSecureView(account: Account) {
  const ways = h('p', { class: 'stack' })
  const element = h(
    'details',
    { hidden: true },
    h('summary', {}, strings.secure),
    h('p', {}, strings.secureHint),
    ways,
  )

  function show({ urls = [], needsTrust = false }: Partial<State['https']> = {}) {
    const secure = urls.flatMap(secureUrls)
    element.hidden = isSecureContext || secure.length === 0
    const wanted = JSON.stringify([secure, needsTrust])
    if (element.dataset['ways'] === wanted) return
    element.dataset['ways'] = wanted
    const way = (href: string, label: string) => h('a', { class: 'button', href }, label)
    ways.replaceChildren(
      ...(needsTrust ? [way(`${base}/phone/trust`, strings.trust)] : []),
      ...secure.map(({ origin, host }) => way(pageOf(account, origin), strings.goOn(host))),
    )
  }

  return { element, show }
}

/** The URL in a text, if it is one with HTTPS: whoever is there is given the account. */
function secureUrls(text: string) {
  try {
    const url = new URL(text)
    return url.protocol === 'https:' ? [url] : []
  } catch {
    return []
  }
}

function showWay(state: Way | 'forgotten') {
  document.documentElement.dataset['way'] = state
  setText(way, strings.ways[state])
}

function farewell(title: string, hint: string) {
  const typed = field?.value ? [field] : []
  const card = h(
    'section',
    { class: 'card' },
    h('h2', {}, title),
    h('p', {}, hint),
    ...typed,
    files,
  )
  main.replaceChildren(card)
}
