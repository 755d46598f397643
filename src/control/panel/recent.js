// @ts-check
/**
 * The items of late but the current one, and a button for each that makes it current again.
 * @module
 */

import { actionButton, errorLine } from './actions.js'
import { activateRecent, ApiError, forgetRecent, readRecent } from './api.js'
import { announce, h, renderList, section, setAttribute, setText } from './dom.js'
import { formatBytes } from './format.js'
import { icon } from './icons.js'
import { isHidden } from './hidden.js'
import { describeSender } from './sender.js'
import { strings } from './strings.js'
import { createTime, setTime } from './time.js'

/** @import { PanelState, Recent } from './state.js' */

const words = strings.recent

/** @type {WeakMap<Element, (recent: Recent) => void>} */
const updaters = new WeakMap()

export function createRecentView() {
  const errors = errorLine()
  const heading = h('h2', { tabindex: -1 }, words.heading)
  const forget = actionButton({
    label: words.forget,
    look: 'quiet',
    errors,
    run: async () => {
      await forgetRecent()
      announce(words.announceForgotten)
    },
  })
  const list = h('ul', { class: 'recent' })
  const hint = h('p', { class: 'note' }, words.hint)
  const card = section({ class: 'card' }, h('header', {}, heading, forget), list, errors, hint)

  function render(/** @type {PanelState} */ { recent, item }) {
    const others = recent.filter(({ activatedAtMs }) => activatedAtMs !== item?.activatedAtMs)
    card.hidden = others.length === 0
    const hadFocus = list.contains(document.activeElement)
    renderList(list, others, {
      key: ({ id }) => id,
      create: ({ id, type }) => createRow(id, type, errors),
      update: (element, one) => updaters.get(element)?.(one),
    })
    // What had it is another row now, or gone.
    if (hadFocus && !list.contains(document.activeElement)) heading.focus()
  }

  return { section: card, render }
}

function createRow(
  /** @type {string} */ id,
  /** @type {Recent['type']} */ type,
  /** @type {Element} */ errors,
) {
  const name = h('h3', { dir: 'auto' })
  const size = h('span')
  const from = h('span', { dir: 'auto' })
  const age = createTime()
  const use = actionButton({
    label: words.use,
    errors,
    run: () =>
      activateRecent(id).catch((error) => {
        const isGone = error instanceof ApiError && error.status === 404
        throw isGone ? new ApiError(words.gone, 404) : error
      }),
  })
  const facts = h('p', { class: 'facts' }, size, from, age)
  const element = h(
    'li',
    {},
    h('span', { class: 'sign' }, icon(type)),
    h('div', { class: 'grow' }, name, facts),
    use,
  )

  /** @type {string | undefined} */
  let beginning

  async function readBeginning() {
    beginning = ''
    beginning = await readRecent(id).catch((error) => {
      // That the daemon is away is said elsewhere, and it brings another state with it.
      if (error instanceof ApiError) return undefined
      throw error
    })
    showName(isHidden() ? undefined : beginning)
  }

  function showName(/** @type {string | undefined} */ title) {
    setText(name, title || words.text)
    setAttribute(use, 'aria-label', words.useName(title || words.text))
  }

  updaters.set(element, (recent) => {
    const isHiddenText = type === 'Text' && isHidden()
    if (type === 'Text' && !isHiddenText && beginning === undefined) void readBeginning()
    if (isHiddenText) showName(undefined)
    else showName(type === 'Text' ? beginning : recent.dataName)
    setText(size, formatBytes(recent.size))
    setText(from, describeSender(recent.sender))
    setTime(age, recent.activatedAtMs)
  })
  return element
}
