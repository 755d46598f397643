// @ts-check
/**
 * Sends texts and files from this phone. Files that are chosen together become one item; their
 * bytes are sent one after the other.
 * @module
 */

import { ApiError, pushDocument } from './api.js'
import { button, formatBytes, h, setText } from './dom.js'
import { FileUpload, MAX_LOSSES, newBatch, pushBatch } from './file-upload.js'
import { strings } from './strings.js'

/** @import { Held, Progress } from './file-upload.js' */
/** @import { Pushed } from './strings.js' */

/** The computer takes no more uploads in one batch. */
const MAX_TOGETHER = 500

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
    const pictures = []
    for (const item of items) {
      const picture = item.types.find((type) => type.startsWith('image/'))
      const type = picture ?? 'text/plain'
      if (!item.types.includes(type)) continue
      const blob = await item.getType(type)
      if (picture === undefined) field.value = await blob.text()
      else pictures.push(new File([blob], `image.${picture.slice(6)}`, { type }))
    }
    sendFiles(pictures)
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
    const files = [...chosen]
    if (files.length > MAX_TOGETHER) return setText(note, strings.tooMany(MAX_TOGETHER))
    const batch = newBatch()
    const uploads = files.map((file, index) => createUpload(file, batch, index + 1, stop.signal))
    list.append(...uploads.map(({ row }) => row))
    queue = queue.then(() => sendTogether(uploads, batch))
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

/** Sends files that were chosen together, as one item of those that arrive. Never rejects. */
async function sendTogether(/** @type {readonly Upload[]} */ uploads, /** @type {string} */ batch) {
  for (let losses = 0; ; losses += 1) {
    for (const { run } of uploads) await run(losses > 0)
    const there = uploads.filter(({ isThere }) => isThere())
    if (there.length === 0) return
    const abort = new AbortController()
    const watch = () => there.every(({ signal }) => signal.aborted) && abort.abort()
    for (const { signal } of there) signal.addEventListener('abort', watch)
    const show = (/** @type {Held | 'storing'} */ state) => {
      for (const one of there) one.showPush(state)
    }
    const [first] = there
    const one = there.length === 1 && first !== undefined ? namesOf(first) : { type: 'Group' }
    const members = there.map(({ number }) => number)
    const document = { ...one, hasData: true, batch, members }
    /** @type {Pushed | undefined} */
    let pushed
    const failure = await outcomeOf(
      pushBatch(document, abort.signal, show).then((answer) => (pushed = answer)),
    )
    // The computer gave some of them up: all that the phone still has is sent again.
    if (failure?.code === 'gone' && losses < MAX_LOSSES) continue
    for (const { end } of there) end(failure, pushed)
    return
  }
}

function namesOf(/** @type {Upload} */ { file: { name, size } }) {
  return { type: 'File', text: name, dataName: name, size }
}

/** @typedef {ReturnType<typeof createUpload>} Upload */

/**
 * One file on its way, as a row of the list, until it is cancelled or `stop` says so.
 *
 * @param {File} file
 * @param {string} batch
 * @param {number} number Its place in the batch.
 * @param {AbortSignal} stop
 */
function createUpload(file, batch, number, stop) {
  const bar = h('progress', { max: Math.max(file.size, 1), value: 0, 'aria-label': file.name })
  const note = h('p', { class: 'note', role: 'status' }, strings.waiting)
  const act = button('✕', () => cancel(), { 'aria-label': `${strings.cancel}: ${file.name}` })
  const row = h('li', {}, h('p', { class: 'name', dir: 'auto' }, file.name), act, bar, note)
  const abort = new AbortController()
  const { signal } = abort
  let hasFailed = false
  stop.addEventListener('abort', () => abort.abort())
  let cancel = () => {
    abort.abort()
    row.remove()
  }

  /** Sends its bytes, however long that takes. Never rejects. */
  async function run(/** @type {boolean} */ isAnew) {
    if (signal.aborted || hasFailed) return
    const place = `${batch}/${number}`
    const upload = new FileUpload(file, { place, signal, isAnew, onProgress: show })
    const failure = await outcomeOf(upload.run())
    if (signal.aborted) return
    if (failure !== undefined) return end(failure)
    bar.value = file.size
    setText(note, strings.there)
  }

  function show(/** @type {Progress} */ { state, sent, speed, isAnew }) {
    const { size } = file
    bar.value = sent
    if (state !== 'sending') return setText(note, strings.held[state](percentOf(sent)))
    const rate = speed === 0 ? '' : formatBytes(speed)
    const words = strings.sending(formatBytes(sent), formatBytes(size), rate)
    setText(note, isAnew ? `${words} · ${strings.anew}` : words)
  }

  function percentOf(/** @type {number} */ sent) {
    return Math.floor((100 * sent) / Math.max(file.size, 1))
  }

  function showPush(/** @type {Held | 'storing'} */ state) {
    setText(note, state === 'storing' ? strings.storing : strings.held[state](100))
  }

  function end(
    /** @type {ApiError | undefined} */ failure,
    /** @type {Pushed | undefined} */ pushed = undefined,
  ) {
    if (signal.aborted) return
    hasFailed = failure !== undefined
    setText(note, pushed === undefined ? wordsOf(failure) : strings.sentTo(pushed))
    bar.hidden = true
    act.setAttribute('aria-label', `${strings.remove}: ${file.name}`)
    cancel = () => row.remove()
  }

  const isThere = () => !hasFailed && !signal.aborted
  return { row, file, number, signal, run, isThere, showPush, end }
}

function wordsOf(/** @type {ApiError | undefined} */ failure) {
  return failure === undefined ? strings.sent : strings.failures[failure.code]
}

/** @returns {Promise<ApiError | undefined>} Why it failed, if it did. */
async function outcomeOf(/** @type {Promise<unknown>} */ work) {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
