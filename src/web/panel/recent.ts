/**
 * The items of late but the current one, and a button for each that makes it current again.
 * @module
 */

import { actionButton, announce, errorLine } from './actions.ts'
import { activateRecent, ApiError, forgetRecent, readRecent } from './api.ts'
import { h, renderList, section, setAttribute, setText } from '../shared/dom.ts'
import { formatBytes } from '../shared/language.ts'
import { icon } from './icons.ts'
import { isHidden } from './item.ts'
import { describeSender } from './format.ts'
import { strings } from './strings.ts'
import { createTime, setTime } from './time.ts'
import type { PanelState, Recent } from './state.ts'

const words = strings.recent

/** The list of recent items. */
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

  function render({ recent, item }: PanelState) {
    const others = recent.filter(({ activatedAtMs }) => activatedAtMs !== item?.activatedAtMs)
    card.hidden = others.length === 0
    renderList(list, others, {
      key: ({ id }) => id,
      create: ({ id, type }) => createRow(id, type, errors),
      fallback: heading,
    })
  }

  return { section: card, render }
}

function createRow(id: string, type: Recent['type'], errors: Element) {
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

  let beginning: string | undefined

  async function readBeginning() {
    beginning = ''
    beginning = await readRecent(id).catch((error) => {
      // That the daemon is away is said elsewhere, and it brings another state with it.
      if (error instanceof ApiError) return undefined
      throw error
    })
    showName(isHidden() ? undefined : beginning)
  }

  function showName(title: string | undefined) {
    setText(name, title || words.text)
    setAttribute(use, 'aria-label', words.useName(title || words.text))
  }

  function update(recent: Recent) {
    const isHiddenText = type === 'Text' && isHidden()
    if (type === 'Text' && !isHiddenText && beginning === undefined) void readBeginning()
    if (isHiddenText) showName(undefined)
    else showName(type === 'Text' ? beginning : recent.dataName)
    setText(size, formatBytes(recent.size))
    setText(from, describeSender(recent.sender))
    setTime(age, recent.activatedAtMs)
  }

  return { element, update }
}
