/** The actions for the current item: copy it here, save it, look into its folder. @module */

import { actionButton, announce, errorLine } from './actions.ts'
import { ApiError, openReceived, readTicket, readPreview, readText } from './api.ts'
import { h, setText } from '../shared/dom.ts'
import { createMembers, saveZip, type Saver } from '../shared/members.ts'
import { toPng } from '../shared/picture.ts'
import { createTextActions } from '../shared/text-actions.ts'
import { currentState, type Item } from './state.ts'
import { strings } from './strings.ts'

const words = strings.item

/** The actions for the current item. */
export function createItemActions() {
  let shown: Item | null = null
  const errors = errorLine()
  const note = h('p', { class: 'note' })
  const copy = actionButton({
    label: words.copy,
    errors,
    run: () =>
      withItem(async (item) => {
        await copyItem(item)
        say(words.copied)
      }),
  })
  const save = actionButton({ label: words.save, errors, run: () => withItem(saveItem) })
  const open = actionButton({ label: words.openFolder, errors, run: openFolder })
  const ofText = h('span', { class: 'of-text' })
  const code = h('div')
  const buttons = h('div', { class: 'buttons start' }, copy, ofText, save, open)
  const element = h('div', { class: 'item-actions' }, buttons, code, note, errors)

  function render(item: Item | null) {
    if (item?.contentId !== shown?.contentId) {
      setText(errors, '')
      setText(note, '')
    }
    shown = item
    element.hidden = item === null
    copy.hidden = item?.preview == null
    save.hidden = item === null || item.dataName === ''
    setText(save, item?.type === 'Group' ? saveZip : words.save)
    const isFile = item?.type === 'File' || item?.type === 'Group'
    const isReceived = isFile && item.sender?.kind !== 'clipboard'
    open.hidden = !isReceived || currentState().receivedDir === null
  }

  /** @param text What is shown of it; nothing where no text is shown. */
  function renderText(text = '', isWhole = true) {
    const made = createTextActions({ text, isWhole, failure: strings.errors.away })
    ofText.replaceChildren(...made.open, ...made.toggle)
    code.replaceChildren(made.code)
  }

  async function withItem(act: (item: Item) => Promise<void>) {
    setText(note, '')
    if (shown !== null) await act(shown)
  }

  async function openFolder() {
    const path = currentState().receivedDir ?? ''
    say((await openReceived()) ? words.folder(path) : words.noFolder(path))
  }

  function say(text: string) {
    setText(note, text)
    announce(text)
  }

  return { element, render, renderText }
}

async function copyItem({ preview, contentId }: Item) {
  const isText = preview === 'text'
  const reading = isText ? readText(contentId) : readPreview(contentId)
  await copyToClipboard(
    reading.then((value) => value ?? changed()),
    isText,
  )
}

/**
 * Puts something on the clipboard of the browser: pictures as PNG, as browsers want them.
 *
 * @param reading A text, or a picture.
 * @throws {ApiError} Also that of `reading`.
 */
export async function copyToClipboard(reading: Promise<string | Blob>, isText: boolean) {
  const found = reading.then<string | Blob>((value) =>
    typeof value === 'string' ? value : toPng(value),
  )
  const type = isText ? 'text/plain' : 'image/png'
  try {
    // Begun within the click: some browsers allow it only there.
    await navigator.clipboard.write([new ClipboardItem({ [type]: found })])
  } catch {
    // Why there is nothing to copy says more than that the browser did not.
    await found
    throw new ApiError(words.notCopied, 0)
  }
}

/** Has the browser save it: the page never holds its bytes. */
async function saveItem(item: Item) {
  download((await ticketOf(item)).path, item.dataName)
}

/** A way to the bytes of an item. @throws {ApiError} when something else is current by now. */
async function ticketOf({ contentId }: Item) {
  const ticket = await readTicket()
  return ticket.contentId === contentId ? ticket : changed()
}

/**
 * The files of a Group, each of which can be saved.
 *
 * @returns Nothing when they cannot be listed.
 * @throws {ApiError}
 */
export async function listMembers(item: Item) {
  const errors = errorLine()
  const first = await ticketOf(item)
  if (first.members.length === 0) return []
  const saverOf = ({ label, about, fileName, query }: Saver) => {
    // A ticket ends before a page does.
    const run = async () => download((await ticketOf(item)).path + query, fileName)
    return actionButton({ label, name: about, look: 'quiet', errors, run })
  }
  return [...createMembers(first.members, saverOf), errors]
}

/** Has the browser save what is at a path. */
export function download(href: string, name: string) {
  h('a', { href, download: name }).click()
}

function changed(): never {
  throw new ApiError(words.changed, 0)
}
