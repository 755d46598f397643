// @ts-check
/**
 * Sends texts and files from this phone, files one after the other.
 * @module
 */

import { ApiError, pushDocument } from './api.js'
import { button, formatBytes, h, setText } from './dom.js'
import { FileUpload } from './file-upload.js'
import { strings } from './strings.js'

/** @import { Progress } from './file-upload.js' */
/**
 * Creates the card with which this phone sends.
 *
 * What others share with the page is only offered: a page of another site could have sent it, too.
 *
 * @param {string} text What was typed before.
 * @param {() => void} onAway Called when the computer does not take a text, as nobody is there.
 */
export function createSendView(text, onAway) {
  const field = h('textarea', {
    // Or the browser writes what stands here into its session on the disk.
    autocomplete: 'off',
    rows: 3,
    placeholder: strings.placeholder,
    'aria-label': strings.placeholder,
    dir: 'auto',
    autocapitalize: 'sentences',
  })
  field.value = text
  const note = h('p', { class: 'note', role: 'status' })
  const list = h('ul', { class: 'uploads' })
  const send = button(strings.send, sendText, { class: 'main' })
  const files = picker(strings.files, { multiple: true })
  const camera = picker(strings.camera, { accept: 'image/*', capture: 'environment' })
  const tools = h('div', { class: 'tools' }, files, camera)
  const section = h(
    'section',
    { class: 'card', 'aria-labelledby': 'send' },
    h('h2', { id: 'send' }, strings.sendHeading),
    ...[field, send, tools, note, list],
  )
  const stop = new AbortController()
  let queue = Promise.resolve()

  if (navigator.clipboard?.read !== undefined) tools.append(button(strings.paste, paste))
  field.addEventListener('input', () => {
    setText(note, '')
    setText(send, strings.send)
  })
  field.addEventListener('paste', (event) => {
    const pasted = event.clipboardData?.files
    if (!pasted?.length) return
    event.preventDefault()
    sendFiles(pasted)
  })
  document.addEventListener('dragover', (event) => event.preventDefault())
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    sendFiles(event.dataTransfer?.files ?? [])
  })

  async function sendText() {
    const text = field.value
    if (text === '') return field.focus()
    send.disabled = true
    setText(note, strings.sendingText)
    const failure = await outcomeOf(pushDocument({ type: 'Text', text, hasData: false }))
    send.disabled = false
    setText(note, wordsOf(failure))
    setText(send, failure?.mayPass ? strings.again : strings.send)
    if (failure?.code === 'away') onAway()
    // Words that were typed meanwhile stay.
    if (failure === undefined && field.value === text) field.value = ''
  }

  /** Takes pictures as files, and a text into the field, where a person can look at it. */
  async function paste() {
    const items = await navigator.clipboard.read().catch(() => [])
    for (const item of items) {
      const picture = item.types.find((type) => type.startsWith('image/'))
      const type = picture ?? 'text/plain'
      if (!item.types.includes(type)) continue
      const blob = await item.getType(type)
      if (picture === undefined) field.value = await blob.text()
      else sendFiles([new File([blob], `image.${picture.slice(6)}`, { type })])
    }
    field.focus()
  }

  function offer(/** @type {{ text: string, files: readonly File[] }} */ { text, files: shared }) {
    if (text !== '') field.value = text
    if (shared.length === 0) return
    const label = strings.sendShared(shared.length)
    const sendAll = button(label, () => {
      sendAll.remove()
      sendFiles(shared)
    })
    note.before(sendAll)
  }

  function sendFiles(/** @type {Iterable<File>} */ chosen) {
    for (const file of chosen) {
      const upload = createUpload(file, stop.signal)
      list.append(upload.row)
      queue = queue.then(upload.run)
    }
  }

  /** @param {Readonly<Record<string, string | boolean>>} how */
  function picker(/** @type {string} */ label, how) {
    const input = h('input', { type: 'file', class: 'unseen', ...how })
    input.addEventListener('change', () => {
      sendFiles([...(input.files ?? [])])
      input.value = ''
    })
    return h('label', { class: 'button' }, label, input)
  }

  return { section, field, offer, end: () => stop.abort() }
}

/** One file on its way, as a row of the list, until it is cancelled or `stop` says so. */
function createUpload(/** @type {File} */ file, /** @type {AbortSignal} */ stop) {
  const bar = h('progress', { max: Math.max(file.size, 1), value: 0, 'aria-label': file.name })
  const note = h('p', { class: 'note', role: 'status' }, strings.waiting)
  const act = button('✕', () => cancel(), { 'aria-label': `${strings.cancel}: ${file.name}` })
  const row = h('li', {}, h('p', { class: 'name', dir: 'auto' }, file.name), act, bar, note)
  const abort = new AbortController()
  stop.addEventListener('abort', () => abort.abort())
  let cancel = () => {
    abort.abort()
    row.remove()
  }

  /** Sends it, however long that takes. Never rejects. */
  async function run() {
    if (abort.signal.aborted) return
    const failure = await outcomeOf(new FileUpload(file, abort.signal, show).run())
    if (!abort.signal.aborted) end(failure)
  }

  function show(/** @type {Progress} */ { state, sent, speed, isAnew }) {
    const { size } = file
    bar.value = sent
    if (state === 'storing') return setText(note, strings.storing)
    const percent = Math.floor((100 * sent) / Math.max(size, 1))
    if (state !== 'sending') return setText(note, strings.held[state](percent))
    const rate = speed === 0 ? '' : formatBytes(speed)
    const words = strings.sending(formatBytes(sent), formatBytes(size), rate)
    setText(note, isAnew ? `${words} · ${strings.anew}` : words)
  }

  function end(/** @type {ApiError | undefined} */ failure) {
    setText(note, wordsOf(failure))
    bar.hidden = true
    act.setAttribute('aria-label', `${strings.remove}: ${file.name}`)
    cancel = () => row.remove()
  }

  return { row, run }
}

function wordsOf(/** @type {ApiError | undefined} */ failure) {
  return failure === undefined ? strings.sent : strings.failures[failure.code]
}

/** @returns {Promise<ApiError | undefined>} Why it failed, if it did. */
async function outcomeOf(/** @type {Promise<void>} */ work) {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
