/**
 * The current item: what it is, how old, from whom, and the beginning of it unless that is hidden.
 * @module
 */

import { actionButton, announce, errorLine } from './actions.ts'
import { ApiError, readPreview, readText } from './api.ts'
import { button, h, inOrder, section, setAttribute, setText } from '../shared/dom.ts'
import { formatBytes } from '../shared/language.ts'
import { showPicture } from '../shared/picture.ts'
import { KeptWord } from '../shared/storage.ts'
import { icon } from './icons.ts'
import { createItemActions, listMembers } from './item-actions.ts'
import { describeSender } from './format.ts'
import { strings } from './strings.ts'
import { createTime, setTime } from './time.ts'
import type { Item } from './state.ts'

const words = strings.item

/** Remembers in this browser whether content is hidden: others may look at the same screen. */
const kept = new KeptWord(() => localStorage, 'clipgate.preview')

/** Whether content is hidden. */
export function isHidden() {
  return kept.get() === 'hidden'
}

/** @param onHide Called when the reader wants to see more, or less. */
export function createItemView(onHide: () => void) {
  const preview = h('div', { class: 'preview' })
  const type = h('h3', { dir: 'auto' })
  const kind = h('span')
  const size = h('span')
  const mediaType = h('span')
  const age = createTime()
  const from = h('span', { dir: 'auto' })
  const facts = h('p', { class: 'facts' }, kind, size, mediaType, from, age)
  const actions = createItemActions()
  const sign = h('span', { class: 'sign' })
  const what = h('div', { class: 'what' }, sign, h('div', { class: 'grow' }, type, facts))
  const toggle = button('', () => {
    kept.set(isHidden() ? null : 'hidden')
    showPreview()
    onHide()
  })
  const header = h('header', {}, h('h2', {}, words.heading), toggle)

  let shown: Item | null | undefined
  let shownPreview = ''

  function render(item: Item | null) {
    const isNew = shown !== undefined && keyOf(item) !== keyOf(shown)
    if (item?.type !== shown?.type || shown === undefined) {
      sign.replaceChildren(icon(item?.type ?? 'empty'))
    }
    shown = item
    const name = item === null ? words.none : words.types[item.type]
    setText(type, item === null || item.dataName === '' ? name : inOrder(item.dataName))
    setText(kind, item === null ? words.noneHint : item.dataName === '' ? '' : name)
    setText(size, item === null ? '' : formatBytes(item.size))
    setText(mediaType, item?.mediaType ?? '')
    setText(from, describeSender(item?.sender ?? null))
    actions.render(item)
    setAttribute(age, 'hidden', item === null)
    if (item !== null) setTime(age, item.activatedAtMs)
    if (isNew && item !== null) announce(words.announce(name, formatBytes(item.size)))
    showPreview()
  }

  function showPreview() {
    const kind = shown?.type === 'Group' ? 'members' : (shown?.preview ?? null)
    toggle.hidden = kind === null
    setText(toggle, isHidden() ? words.show : words.hide)
    const wanted = `${isHidden()} ${kind} ${shown?.contentId}`
    if (wanted === shownPreview) return
    shownPreview = wanted
    // The old one goes at once: it is not what the clipboard holds any more.
    preview.replaceChildren()
    actions.renderText()
    if (!shown) return
    if (kind === null) preview.append(note(words.noPreview))
    else if (isHidden()) preview.append(note(words.hidden))
    else void show(shown, () => wanted === shownPreview)
  }

  async function show(item: Item, isStillWanted: () => boolean) {
    if (item.type === 'Group') {
      const files = (await listMembers(item).catch(notThere)) ?? []
      if (!isStillWanted()) return
      return preview.replaceChildren(...(files.length > 0 ? files : [note(words.noPreview)]))
    }
    const content = await readPreview(item.contentId).catch(notThere)
    const text = item.preview === 'text' ? await content?.text() : undefined
    if (!isStillWanted()) return
    if (content === undefined) {
      // The next state asks again.
      shownPreview = ''
      preview.replaceChildren(note(words.noPreview))
    } else if (text === undefined) {
      preview.replaceChildren(showPicture(content, words.previewOf, note(words.noPreview)))
    } else {
      preview.replaceChildren(...textOf(text, item, isStillWanted))
    }
  }

  function textOf(text: string, item: Item, isStillWanted: () => boolean) {
    const name = words.previewText
    const block = h('pre', { dir: 'auto', tabindex: 0, role: 'region', 'aria-label': name }, text)
    const isWhole = new TextEncoder().encode(text).length >= item.size
    actions.renderText(text, isWhole)
    if (isWhole) return [block]
    const cut = h('p', { class: 'note cut' }, words.cut, ' ')
    const errors = errorLine()
    const all = actionButton({
      label: words.all,
      errors,
      run: async () => {
        const whole = await readText(item.contentId)
        if (whole === undefined || !isStillWanted()) return
        setText(block, whole)
        actions.renderText(whole)
        cut.remove()
        block.focus()
      },
    })
    cut.append(all)
    return [block, cut, errors]
  }

  return { section: section({ class: 'card' }, header, what, preview, actions.element), render }
}

/** That the daemon is away is said elsewhere, and it brings another state with it. */
export function notThere(error: unknown) {
  if (error instanceof ApiError) return undefined
  throw error
}

function keyOf(item: Item | null) {
  return item === null ? '' : `${item.contentId} ${item.activatedAtMs}`
}

function note(text: string) {
  return h('p', { class: 'note' }, text)
}
