/**
 * The recent items but the current one: the newest few of them, or all, or those with a word; and
 * what can be done with each.
 * @module
 */

import { actionButton, announce, errorLine } from './actions.ts'
import {
  activateRecent,
  ApiError,
  findRecent,
  forgetRecent,
  readRecent,
  readRecentText,
  readTicket,
} from './api.ts'
import { h, inOrder, renderList, section, setAttribute, setText } from '../shared/dom.ts'
import { formatBytes } from '../shared/language.ts'
import { showPicture } from '../shared/picture.ts'
import { createFew } from './few.ts'
import { icon } from './icons.ts'
import { isHidden, notThere } from './item.ts'
import { copyToClipboard, download } from './item-actions.ts'
import { describeSender } from './format.ts'
import { currentState, type PanelState, type Recent } from './state.ts'
import { strings } from './strings.ts'
import { createTime, setTime } from './time.ts'

const words = strings.recent

/** As long as a word may be that the daemon looks for. */
const MAX_SEARCH_LENGTH = 200

/** The list of recent items. */
export function createRecentView() {
  /** The word that was looked for, in which items, and those that have it. */
  let search: { word: string; among: string; ids: readonly string[] } | undefined
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
  const field = h('input', {
    type: 'search',
    maxlength: MAX_SEARCH_LENGTH,
    'aria-label': words.search,
    placeholder: words.search,
  })
  field.addEventListener('input', () => render(currentState()))
  const list = h('ul', { class: 'recent' })
  const none = h('p', { class: 'note', role: 'status' })
  const few = createFew(() => render(currentState()))
  const hint = h('p', { class: 'note' }, words.hint)
  const header = h('header', {}, heading, forget)
  const card = section({ class: 'card' }, header, field, list, none, errors, few.button, hint)

  function render({ recent, item }: PanelState) {
    const others = recent.filter(({ activatedAtMs }) => activatedAtMs !== item?.activatedAtMs)
    card.hidden = others.length === 0
    const word = field.value.trim()
    const newest = few.take(others)
    field.hidden = few.button.hidden && word === ''
    if (word !== '') few.button.hidden = true
    if (word !== '') void look(word, others)
    const found = word === '' ? undefined : search?.ids
    const shown = found === undefined ? newest : others
    const rows = shown.filter(({ id }) => found?.includes(id) ?? true)
    setText(none, rows.length === 0 && others.length > 0 ? words.notFound : '')
    renderList(list, rows, {
      key: ({ id }) => id,
      create: (one) => createRow(one, errors),
      fallback: heading,
    })
  }

  /** Looks for a word, once for each that is typed and for each change of the list. */
  async function look(word: string, others: readonly Recent[]) {
    const among = others.map(({ id }) => id).join()
    if (search?.word === word && search.among === among) return
    search = { word, among, ids: search?.ids ?? others.map(({ id }) => id) }
    try {
      const ids = await findRecent(word)
      setText(errors, '')
      // Somebody has typed on meanwhile.
      if (search.word === word && search.among === among) search = { word, among, ids }
      render(currentState())
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The next state looks again.
      search = undefined
      setText(errors, error.message)
    }
  }

  return { section: card, render }
}

function createRow({ id, type, dataName, preview }: Recent, errors: Element) {
  const name = h('h3', { dir: 'auto' })
  const size = h('span')
  const from = h('span', { dir: 'auto' })
  const age = createTime()
  const sign = h('span', { class: 'sign' })
  const actions = [
    { label: words.use, about: words.useName, run: () => activateRecent(id) },
    ...(preview === null ? [] : [{ label: words.copy, about: words.copyName, run: copy }]),
    ...(type === 'Text' ? [] : [{ label: words.save, about: words.saveName, run: save }]),
    { label: words.remove, about: words.removeName, run: () => forgetRecent(id) },
  ].map(({ label, about, run }, index) => {
    const look = index === 0 ? {} : ({ look: 'quiet' } as const)
    return { about, button: actionButton({ label, ...look, errors, run: () => run().catch(gone) }) }
  })
  const facts = h('p', { class: 'facts' }, size, from, age)
  const buttons = h('div', { class: 'buttons' }, ...actions.map(({ button }) => button))
  const element = h('li', {}, sign, h('div', { class: 'grow' }, name, facts), buttons)

  /** The text or the picture that is shown, as soon as it has come. */
  let shown: Promise<Blob | undefined> | undefined

  async function copy() {
    const reading = preview === 'text' ? readRecentText(id) : readRecent(id)
    await copyToClipboard(
      reading.then((value) => value ?? gone(new ApiError('', 404))),
      preview === 'text',
    )
    announce(strings.item.copied)
  }

  async function save() {
    download((await readTicket(id)).path, dataName)
  }

  async function show() {
    shown ??= readRecent(id).catch(notThere)
    const content = await shown
    if (isHidden() || content === undefined) return
    if (type === 'Text') showName(await content.text())
    else if (sign.querySelector('img') === null)
      sign.replaceChildren(showPicture(content, '', icon(type)))
  }

  function showName(title: string) {
    setText(name, title || words.text)
    for (const { about, button } of actions) {
      setAttribute(button, 'aria-label', about(title || words.text))
    }
  }

  function update(recent: Recent) {
    if (isHidden() || sign.firstChild === null) sign.replaceChildren(icon(type))
    if (type !== 'Text') showName(inOrder(dataName))
    else if (isHidden() || name.textContent === '') showName('')
    if (preview !== null && !isHidden()) void show()
    setText(size, formatBytes(recent.size))
    setText(from, describeSender(recent.sender))
    setTime(age, recent.activatedAtMs)
  }

  return { element, update }
}

/** @throws The same, in words of this list. */
function gone(error: unknown): never {
  const isGone = error instanceof ApiError && error.status === 404
  throw isGone ? new ApiError(words.gone, 404) : error
}
