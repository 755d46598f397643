/**
 * Sends something: a text that is typed, files that are chosen, and what is dropped or pasted
 * anywhere on the page.
 * @module
 */

import { actionButton, announce, attempt, errorLine, perform } from './actions.ts'
import { ApiError, pushFile, pushText } from './api.ts'
import type { Progress } from '../shared/file-upload.ts'
import { filesIn } from '../shared/given.ts'
import { formatBytes } from '../shared/language.ts'
import { button, h, inOrder, section, setAttribute, setText } from '../shared/dom.ts'
import { strings } from './strings.ts'

const words = strings.push

/** The part of the page that puts something on the clipboard. */
export function createPushView() {
  /** Texts go one after the other, and do not wait for a film. */
  let texts: Promise<void> = Promise.resolve()
  /** Files wait for the texts before them, too. */
  let files: Promise<void> = Promise.resolve()
  const errors = errorLine()
  const note = h('p', { class: 'note' })
  const state = h('p', { class: 'note' })
  const text = h('textarea', {
    rows: 2,
    dir: 'auto',
    'aria-label': words.label,
    placeholder: words.placeholder,
  })
  const submit = button(words.submit, sendTyped, { class: 'action primary' })
  const picker = h('input', { type: 'file', hidden: true, multiple: true })
  const choose = actionButton({ label: words.files, run: () => picker.click() })
  const buttons = h('div', { class: 'buttons' }, picker, choose, submit)
  const header = h('header', {}, h('h2', {}, words.heading))
  const bar = h('progress', { max: 1, hidden: true })
  let abort = new AbortController()
  /** Whether what is dragged comes from this page: a click that slips sends nothing. */
  let isOwn = false
  const cancel = button(words.cancel, () => abort.abort(), { hidden: true })
  const progress = h('div', { class: 'what' }, bar, cancel)
  const card = section({ class: 'card push' }, header, text, buttons, note, state, progress, errors)

  picker.addEventListener('change', () => {
    const chosen = [...(picker.files ?? [])]
    picker.value = ''
    sendFiles(chosen)
  })
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) sendTyped()
  })

  document.addEventListener('dragstart', () => {
    isOwn = true
  })
  // An element that went meanwhile tells no end; but no mouse moves, for a page, during a drag.
  for (const type of ['dragend', 'mousemove']) {
    document.addEventListener(type, () => {
      isOwn = false
    })
  }
  document.addEventListener('dragover', (event) => {
    if (isOwn || !carries(event)) return
    event.preventDefault()
    setAttribute(card, 'data-over', true)
  })
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) setAttribute(card, 'data-over', undefined)
  })
  document.addEventListener('drop', (event) => {
    setAttribute(card, 'data-over', undefined)
    if (!isOwn) take(event, event.dataTransfer)
  })
  document.addEventListener('paste', (event) => take(event, event.clipboardData))

  /** Takes what was dropped or pasted, unless that goes into a field. */
  function take(event: Event, data: DataTransfer | null) {
    if (data === null || document.querySelector('dialog[open]') !== null) return
    const chosen = event.type === 'paste' ? filesIn(data) : [...data.files]
    const plain = isInField(event) ? '' : data.getData('text/plain')
    if (chosen.length === 0 && plain === '') return
    event.preventDefault()
    if (chosen.length > 0) return sendFiles(chosen)
    begin()
    void attempt(errors, () => sendText(plain))
  }

  /** Words about the one before would be taken for this one. */
  function begin() {
    setText(errors, '')
    setText(note, '')
  }

  function sendTyped() {
    const { value } = text
    if (value === '') return text.focus()
    const run = async () => {
      begin()
      await sendText(value)
      // Text that was typed meanwhile stays.
      if (text.value === value) text.value = ''
    }
    void perform(submit, { errors, run })
  }

  async function sendText(value: string) {
    const sent = texts.then(() => pushText(value))
    // Whoever sends it hears why it was not sent.
    texts = sent.catch(() => {})
    await sent
    say(words.sentText)
  }

  function sendFiles(chosen: readonly File[]) {
    begin()
    const before = Promise.all([files, texts])
    files = before.then(() => attempt(errors, () => sendTogether(chosen)))
  }

  async function sendTogether(chosen: readonly File[]) {
    abort = new AbortController()
    const { signal } = abort
    bar.hidden = cancel.hidden = false
    const failures: string[] = []
    try {
      for (const file of chosen) await sendOne(file, signal, failures)
    } finally {
      bar.hidden = cancel.hidden = true
      setText(state, '')
    }
    if (failures.length > 0) throw new ApiError(failures.join(' '), 0)
  }

  async function sendOne(file: File, signal: AbortSignal, failures: string[]) {
    if (signal.aborted) return
    try {
      await pushFile(file, { signal, onProgress: (progress) => show(file, progress) })
      say(words.sent(file.name))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The others may be taken all the same.
      if (!signal.aborted) failures.push(`${inOrder(file.name)}: ${error.message}`)
    }
  }

  function show({ name, size }: File, { state: now, sent }: Progress) {
    bar.value = sent / Math.max(size, 1)
    const done = strings.transfers.of(formatBytes(sent), formatBytes(size))
    const sending = `${words.sending(name)} ${done}`
    setText(state, now === 'sending' ? sending : `${sending}. ${words.held[now]}`)
  }

  function say(sentence: string) {
    setText(note, sentence)
    announce(sentence)
  }

  return { section: card, text, errors }
}

/** Whether it brings something for the page: a text over a field is for that, which takes it. */
function carries(event: DragEvent) {
  const types = event.dataTransfer?.types ?? []
  return types.includes('Files') || (types.includes('text/plain') && !isInField(event))
}

function isInField({ target }: Event) {
  return target instanceof Element && target.matches('input, textarea')
}
