/** The current item: what it is, and how to take it. @module */

import { base } from './account.ts'
import { ClientError } from '../../client/client-error.ts'
import type { ClipboardDocument } from '../../client/decode-document.ts'
import {
  exchange,
  readItem,
  readRecent,
  readState,
  readTicket,
  type Recent,
  type Sent,
  type State,
} from './api.ts'
import { copyText, selectText } from './copy.ts'
import { button, h, inOrder, renderList, setText, type Attributes } from '../shared/dom.ts'
import { failureOf } from '../shared/request.ts'
import { toPng } from '../shared/picture.ts'
import { formatBytes, hourCycle } from '../shared/language.ts'
import { createMembers, saveZip, type Saver } from '../shared/members.ts'
import { createTextActions } from '../shared/text-actions.ts'
import { strings } from './strings.ts'

/** More is slow to lay out on a phone; what is copied is whole. */
const MAX_SHOWN = 20_000

/** Pictures that browsers show and that run nothing. */
const RASTER = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/

/** Larger ones are not loaded only to be looked at. */
const MAX_PICTURE_BYTES = 50_000_000

/** A ticket is good for ten minutes. */
const TICKET_MS = 9 * 60_000

/** How often the page has looked again: tickets end where the daemon was started meanwhile. */
let looks = 0

/** Whether the page stands on an iPhone's home screen, where downloads open without a way back. */
const isStandalone = 'standalone' in navigator && navigator.standalone === true

/**
 * Creates the cards of the current item and of the recent ones; `pull` brings them up to date, and
 * so does `look`, without having heard of a change.
 *
 * @param onState Called with each state.
 */
export function createItemView(onState: (state: State) => void) {
  const sent = h('p', { class: 'note' })
  const content = h('div', { class: 'item', 'aria-live': 'polite' })
  const section = h(
    'section',
    { class: 'card', 'aria-labelledby': 'clipboard' },
    h('div', { class: 'heading' }, h('h2', { id: 'clipboard' }, strings.clipboard), sent),
    content,
  )
  const list = h('ul', { class: 'recent' })
  const recent = h('details', { class: 'card' }, h('summary', {}, strings.recent), list)
  let shown: string | undefined

  /** @throws {ClientError} */
  async function pull(signal: AbortSignal) {
    const [item, state] = await Promise.all([readItem(signal), readState(signal)])
    if (signal.aborted) return
    onState(state)
    setText(sent, item && state.item ? wordsOf(state.item) : '')
    recent.hidden = state.recent.length === 0
    renderList(list, state.recent, {
      // A daemon that was started again begins with the same ids.
      key: ({ id, activatedAt }) => `${id} ${activatedAt}`,
      create: (one) => ({ element: recentRow(one), update: () => {} }),
    })
    // With the moment of an item its tickets end, and a text stays as it is.
    const key = JSON.stringify([item, item?.hasData && state.item?.activatedAt])
    if (key === shown) return
    const views =
      item === undefined ? empty() : item.hasData ? await bytes(item).catch(ifGone) : text(item)
    if (signal.aborted || views === undefined) return
    shown = key
    content.replaceChildren(...views)
  }

  /** As {@link pull}, for the first time or once more. */
  function look(signal: AbortSignal) {
    looks++
    return pull(signal)
  }

  return { section, recent, pull, look }
}

/** An item that was current before: what it is, and when it is opened, the ways to take it. */
function recentRow(one: Recent) {
  const { id, type, dataName, size, line } = one
  const shown = inOrder(dataName)
  const name = h('span', { class: 'name', dir: 'auto' }, line || shown || strings.types[type])
  const facts = line === undefined ? strings.facts(strings.types[type], formatBytes(size)) : ''
  const about = h('span', { class: 'note' }, [facts, wordsOf(one)].filter(Boolean).join(' · '))
  const content = h('div', { class: 'item' })
  const row = h('details', {}, h('summary', {}, name, about), content)
  row.addEventListener('toggle', () => {
    if (row.open && content.childElementCount === 0) void load()
  })

  async function load() {
    try {
      const views =
        type === 'Text'
          ? text({ text: await readRecent(id), size })
          : await bytes(one, `?recent=${id}`)
      content.replaceChildren(...views)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      content.replaceChildren(strings.failures[failureOf(error)])
    }
  }

  return h('li', {}, row)
}

function wordsOf({ from, activatedAt }: Sent) {
  const at = new Date(activatedAt)
  const isToday = at.toDateString() === new Date().toDateString()
  const day = isToday ? {} : ({ month: 'short', day: 'numeric' } as const)
  const clock = { ...day, hour: '2-digit', minute: '2-digit', hourCycle } as const
  return strings.sentBy(from ?? '', at.toLocaleString(strings.lang, clock))
}

/** Something newer is current by now, and its signal is on its way. */
function ifGone(error: unknown): undefined {
  if (!(error instanceof ClientError) || failureOf(error) !== 'gone') throw error
}

function empty() {
  return [h('p', { class: 'name' }, strings.nothing), h('p', {}, strings.nothingHint)]
}

function text({ text, size }: Pick<ClipboardDocument, 'text' | 'size'>) {
  const isShort = text.length <= MAX_SHOWN
  const shown = h(
    'pre',
    { dir: 'auto', tabindex: 0, role: 'group', 'aria-label': strings.types.Text },
    isShort ? text : text.slice(0, MAX_SHOWN),
  )
  const note = h('p', { class: 'note', role: 'status' })
  if (!isShort) setText(note, strings.shortened(size))
  const copy = button(strings.copy, copyAll, { class: 'main' })
  const failure = strings.failures.away
  const { open, toggle, code } = createTextActions({ text, isWhole: true, failure })

  async function copyAll() {
    const isCopied = await copyText(text)
    setText(copy, isCopied ? strings.copied : strings.copy)
    setText(note, isCopied ? '' : strings.holdToCopy)
    if (isCopied) setTimeout(() => setText(copy, strings.copy), 2000)
    else selectText(shown)
  }

  const tools = h('div', { class: 'tools' }, copy, ...open)
  return [tools, shown, note, ...toggle, code]
}

/** @throws {ClientError} */
async function bytes(
  { type, dataName, size }: Pick<Recent, 'type' | 'dataName' | 'size'>,
  of = '',
) {
  const ask = async () => {
    const [look, until] = [looks, Date.now() + TICKET_MS]
    const ticket = await readTicket(of)
    return { ...ticket, isGood: () => look === looks && Date.now() < until }
  }
  const first = await ask()
  let ticket = first
  const note = h('p', { class: 'note', role: 'status' })

  /** A link that saves the bytes, or a file of a Group. */
  function saver(label: string, name: string, attributes: Attributes = {}, member = '') {
    const link = h(
      'a',
      { class: 'main', href: first.href + member, download: name, ...attributes },
      label,
    )
    link.addEventListener('click', (event) => {
      if (isStandalone) {
        event.preventDefault()
        setText(note, strings.openInBrowser)
      } else if (ticket.isGood()) link.href = ticket.href + member
      else {
        event.preventDefault()
        renew().then(
          () => link.click(),
          (error) => {
            if (!(error instanceof ClientError)) throw error
            setText(note, strings.failures[failureOf(error)])
          },
        )
      }
    })
    return link
  }

  /** @throws {ClientError} `NOT_FOUND` when something else is current by now. */
  async function renew() {
    const next = await ask()
    if (next.contentId !== first.contentId) throw new ClientError('NOT_FOUND', { status: 404 })
    ticket = next
  }

  const { members = [] } = first
  if (members.length > 0) {
    const saverOf = ({ label, about, fileName, query }: Saver) =>
      saver(label, fileName, { class: 'button', 'aria-label': about }, query)
    const zip = saver(saveZip, dataName, { class: 'button' })
    return [...createMembers(members, saverOf), zip, note]
  }

  const save = saver(strings.save, dataName)
  const facts = strings.facts(strings.types[type], formatBytes(size))
  const about = [
    h('p', { class: 'name', dir: 'auto' }, inOrder(dataName)),
    h('p', { class: 'note' }, facts),
  ]
  const pngOf = async () => {
    if (!ticket.isGood()) await renew()
    return toPng(await exchange(ticket.href.slice(base.length)))
  }
  const isPicture = RASTER.test(first.mediaType) && size <= MAX_PICTURE_BYTES
  if (!isPicture) return [...about, save, note]
  const copies = 'ClipboardItem' in window ? [imageCopy(pngOf, note)] : []
  return [picture(first.href), ...about, save, ...copies, note]
}

/** A button that copies a picture, where browsers let pages do that: with https. */
function imageCopy(pngOf: () => Promise<Blob>, note: Element) {
  return button(strings.copyImage, async () => {
    // Made in the tap, before anything has come: else it is too late for some browsers.
    const item = new ClipboardItem({ 'image/png': pngOf() })
    const isCopied = await navigator.clipboard.write([item]).then(
      () => true,
      () => false,
    )
    setText(note, isCopied ? strings.copied : strings.notCopied)
  })
}

function picture(src: string) {
  const image = h('img', { alt: strings.pictureOf, src })
  image.addEventListener('error', () => image.remove())
  return image
}
