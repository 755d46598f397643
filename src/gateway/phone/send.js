// @ts-check
/**
 * Sends texts and files from this phone, files one after the other.
 * @module
 */

import { base } from './account.js'
import { ApiError, authorization, failureOf, pushDocument } from './api.js'
import { button, formatBytes, h, setText } from './dom.js'
import { strings } from './strings.js'

/** @import { Failure } from './strings.js' */

/** Between two tries while the daemon is away. */
const AGAIN_MS = 3000

/** Creates the card with which this phone sends. */
export function createSendView() {
  const field = h('textarea', {
    rows: 3,
    placeholder: strings.placeholder,
    'aria-label': strings.placeholder,
    dir: 'auto',
    autocapitalize: 'sentences',
  })
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
  let queue = Promise.resolve()

  if (navigator.clipboard?.readText !== undefined) tools.append(button(strings.paste, paste))
  field.addEventListener('input', () => setText(note, ''))
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
    const failure = await outcomeOf(pushDocument({ type: 'Text', text, hasData: false }))
    send.disabled = false
    setText(note, failure === undefined ? strings.sent : strings.failures[failure])
    // Words that were typed meanwhile stay.
    if (failure === undefined && field.value === text) field.value = ''
  }

  async function paste() {
    const text = await navigator.clipboard.readText().catch(() => undefined)
    if (text) field.value = text
    field.focus()
  }

  function sendFiles(/** @type {Iterable<File>} */ chosen) {
    for (const file of chosen) {
      const upload = createUpload(file)
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

  return section
}

/** One file on its way, as a row of the list. */
function createUpload(/** @type {File} */ file) {
  const bar = h('progress', { max: Math.max(file.size, 1), value: 0, 'aria-label': file.name })
  const note = h('p', { class: 'note', role: 'status' }, strings.waiting)
  const act = button(strings.cancel, () => cancel())
  const row = h('li', {}, h('p', { class: 'name', dir: 'auto' }, file.name), bar, note, act)
  const abort = new AbortController()
  let cancel = () => {
    abort.abort()
    row.remove()
  }

  /** Sends it, however long that takes. Never rejects. */
  async function run() {
    for (;;) {
      if (abort.signal.aborted) return
      const failure = await outcomeOf(push())
      if (abort.signal.aborted) return
      if (failure !== 'away') return end(failure)
      setText(note, strings.interrupted)
      await untilOnline()
    }
  }

  async function push() {
    const startedAt = Date.now()
    await putFile(file, abort.signal, (sent) => {
      bar.value = sent
      const seconds = (Date.now() - startedAt) / 1000
      const speed = seconds < 1 ? '' : formatBytes(sent / seconds)
      setText(note, strings.sending(formatBytes(sent), formatBytes(file.size), speed))
    })
    const { name } = file
    await pushDocument({ type: 'File', text: name, dataName: name, hasData: true, size: file.size })
  }

  function end(/** @type {Failure | undefined} */ failure) {
    setText(note, failure === undefined ? strings.sent : strings.failures[failure])
    bar.hidden = true
    setText(act, strings.remove)
    cancel = () => row.remove()
  }

  return { row, run }
}

/**
 * Uploads a file. `fetch` does not tell how far it is.
 *
 * @param {File} file
 * @param {AbortSignal} signal
 * @param {(sent: number) => void} onProgress
 * @returns {Promise<void>} Rejects with an {@link ApiError}.
 */
function putFile(file, signal, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', `${base}/file/${encodeURIComponent(file.name)}`)
    for (const [name, value] of Object.entries(authorization()))
      request.setRequestHeader(name, value)
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream')
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('loadend', () => {
      const { status } = request
      if (status === 200) resolve()
      else reject(failureOf(status))
    })
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

/** @returns {Promise<Failure | undefined>} Why it failed, if it did. */
async function outcomeOf(/** @type {Promise<void>} */ work) {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}

/** Waits for a moment, and for as long as the phone is locked. */
function untilOnline() {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden) document.addEventListener('visibilitychange', look, { once: true })
      else resolve(undefined)
    }
    setTimeout(look, AGAIN_MS)
  })
}
