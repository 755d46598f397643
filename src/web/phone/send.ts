/**
 * Sends texts and files from this phone. Files that are chosen together become one item; their
 * bytes are sent one after the other.
 * @module
 */

import { batchHeaders, newBatch } from '../../client/upload.ts'
import { ClientError, mayPass } from '../../client/client-error.ts'
import { button, h, inOrder, setText } from '../shared/dom.ts'
import { failureOf, type Failure } from '../shared/request.ts'
import { filesIn, isText } from '../shared/given.ts'
import { FileUpload, type Progress } from '../shared/file-upload.ts'
import type { Held } from '../shared/persistence.ts'
import { MAX_LOSSES, pushLastingly } from '../shared/push-lastingly.ts'
import { formatBytes } from '../shared/language.ts'
import { DOOR, pushDocument } from './api.ts'
import { strings, type Pushed } from './strings.ts'
import { createWakeLock } from './wake-lock.ts'

/** The computer takes no more uploads in one batch. */
const MAX_TOGETHER = 500

/** The kinds of failure where the computer has not heard of a text. */
const UNHEARD: readonly Failure[] = ['away', 'elsewhere']

/**
 * Creates the card with which this phone sends.
 *
 * What others share with the page is only offered: a page of another site could have sent it, too.
 *
 * @param list Holds a row of each file, also of those that accounts before have not sent.
 * @param text What was typed before.
 * @param onAway Called when the computer does not take a text, as nobody is there.
 */
export function createSendView(list: Element, text: string, onAway: () => void) {
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
  const sum = h('p')
  const total = h('progress', { max: 1, value: 0, 'aria-label': strings.sendHeading })
  const progress = h('section', { class: 'card sum', hidden: true }, sum, total)
  const stop = new AbortController()
  const keepAwake = createWakeLock()
  let queue = Promise.resolve()
  /** All that were chosen since nothing was on its way. */
  let uploads: readonly Upload[] = []

  if (navigator.clipboard?.read !== undefined) tools.append(button(strings.paste, paste))
  field.addEventListener('input', () => {
    setText(note, '')
    setText(send, strings.send)
  })
  field.addEventListener('paste', (event) => {
    const pasted = filesIn(event.clipboardData)
    if (pasted.length === 0) return
    event.preventDefault()
    sendFiles(pasted)
  })
  document.addEventListener('dragover', (event) => event.preventDefault(), stop)
  document.addEventListener(
    'drop',
    (event) => {
      event.preventDefault()
      const files = event.dataTransfer?.files ?? []
      if (files.length > 0) sendFiles(files)
      else insert(event.dataTransfer?.getData('text/plain') ?? '')
    },
    stop,
  )

  async function sendText() {
    const text = field.value
    if (text === '') return field.focus()
    clearSent()
    send.disabled = true
    setText(note, strings.sendingText)
    const failure = await outcomeOf(pushDocument({ type: 'Text', text, hasData: false }))
    send.disabled = false
    setText(note, wordsOf(failure))
    const isPassing = failure !== undefined && mayPass(failure)
    setText(send, isPassing ? strings.again : strings.send)
    if (failure !== undefined && UNHEARD.includes(failureOf(failure))) onAway()
    // Words that were typed meanwhile stay.
    if (failure === undefined && field.value === text) field.value = ''
  }

  /** Takes pictures as files, and a text into the field, where a person can look at it. */
  async function paste() {
    const items = await navigator.clipboard.read().catch(() => [])
    const pictures = []
    for (const item of items) {
      const types = isText(item.types) ? [] : item.types
      const picture = types.find((type) => type.startsWith('image/'))
      const type = picture ?? 'text/plain'
      if (!item.types.includes(type)) continue
      const blob = await item.getType(type)
      if (picture === undefined) insert(await blob.text())
      else pictures.push(new File([blob], `image.${picture.slice(6)}`, { type }))
    }
    sendFiles(pictures)
    field.focus()
  }

  function offer({ text, files: shared }: { text: string; files: readonly File[] }) {
    insert(text)
    if (shared.length === 0) return
    const label = strings.sendShared(shared.length)
    const sendAll = button(label, () => {
      sendAll.remove()
      sendFiles(shared)
    })
    note.before(sendAll)
    stop.signal.addEventListener('abort', () => sendAll.isConnected && sendAll.click())
  }

  /** Puts a text where a person types, and leaves what is there. */
  function insert(text: string) {
    field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end')
    field.dispatchEvent(new Event('input'))
  }

  function sendFiles(chosen: Iterable<File>) {
    const files = [...chosen]
    if (files.length > MAX_TOGETHER) return setText(note, strings.tooMany(MAX_TOGETHER))
    const batch = newBatch()
    const chosenNow = files.map((file, index) =>
      createUpload(file, { batch, number: index + 1, stop: stop.signal, onChange: showSum }),
    )
    setText(note, '')
    clearSent()
    uploads = [...uploads.filter(({ isOver }) => !isOver()), ...chosenNow]
    list.append(...chosenNow.map(({ row }) => row))
    // Some are chosen for a while, and another account may be here by then.
    if (stop.signal.aborted) return end()
    showSum()
    queue = queue.then(() => sendTogether(chosenNow, batch))
  }

  /** Takes the files out of the list that were sent: other words are newer. */
  function clearSent() {
    for (const { row } of uploads.filter(({ isSent }) => isSent())) row.remove()
  }

  /** Says how far all of them are, where it is in sight. */
  function showSum() {
    const counted = uploads.filter(({ signal }) => !signal.aborted)
    const states = counted.map(({ state }) => state())
    const isMoving = states.includes('moving')
    keepAwake(isMoving)
    progress.hidden = counted.every(({ isOver }) => isOver())
    const size = counted.reduce((all, { file }) => all + file.size, 0)
    const sent = counted.reduce((all, one) => all + one.sent(), 0)
    const there = counted.filter((one) => one.sent() === one.file.size).length
    const percent = Math.floor((100 * sent) / Math.max(size, 1))
    const held = states.find((state) => state !== undefined && state !== 'moving')
    const words = strings.sum(there, counted.length, percent)
    total.value = sent / Math.max(size, 1)
    setText(sum, isMoving || held === undefined ? words : strings.held[held](percent))
  }

  /** The computer is there again, and did not take a text meanwhile. */
  function showBack() {
    const isUnheard = UNHEARD.some((kind) => note.textContent === strings.failures[kind])
    if (isUnheard) setText(note, strings.unsent)
  }

  function picker(label: string, how: Readonly<Record<string, string | boolean>>) {
    const input = h('input', { type: 'file', class: 'unseen', ...how })
    input.addEventListener('change', () => {
      sendFiles([...(input.files ?? [])])
      input.value = ''
    })
    return h('label', { class: 'button' }, label, input)
  }

  /** Sends nothing any more, and leaves the rows of the files that were not sent. */
  function end() {
    clearSent()
    stop.abort()
    for (const { leave } of uploads) leave()
  }

  return { section, progress, field, offer, showBack, end }
}

/** Sends files that were chosen together, as one item of those that arrive. Never rejects. */
async function sendTogether(uploads: readonly Upload[], batch: string) {
  for (let losses = 0; ; losses += 1) {
    for (const { run } of uploads) await run(losses > 0)
    const there = uploads.filter(({ isThere }) => isThere())
    if (there.length === 0) return
    const abort = new AbortController()
    const watch = () => there.every(({ signal }) => signal.aborted) && abort.abort()
    for (const { signal } of there) signal.addEventListener('abort', watch)
    const show = (state: Held | 'storing') => {
      for (const one of there) one.showPush(state)
    }
    // Some may be cancelled while they wait for the computer.
    const documentOf = () => {
      const left = there.filter(({ isThere }) => isThere())
      const [first] = left
      const one = left.length === 1 && first !== undefined ? namesOf(first) : { type: 'Group' }
      return { ...one, hasData: true, batch, members: left.map(({ number }) => number) }
    }
    let pushed: Pushed | undefined
    const failure = await outcomeOf(
      pushLastingly((signal) => pushDocument(documentOf(), signal), abort.signal, show).then(
        (answer) => (pushed = answer),
      ),
    )
    // The computer gave some of them up: all that the phone still has is sent again.
    const isLost = failure !== undefined && failureOf(failure) === 'gone'
    if (isLost && losses < MAX_LOSSES) continue
    for (const { end } of there) end(failure, pushed)
    return
  }
}

function namesOf({ file: { name, size } }: Upload) {
  return { type: 'File', text: name, dataName: name, size }
}

type Upload = ReturnType<typeof createUpload>

interface UploadOptions {
  readonly batch: string
  /** Its place in the batch. */
  readonly number: number
  /** Ends it, as a person may. */
  readonly stop: AbortSignal
  /** Called when it is further, or over. */
  readonly onChange: () => void
}

/** One file on its way, as a row of the list. */
function createUpload(file: File, { batch, number, stop, onChange }: UploadOptions) {
  const bar = h('progress', { max: Math.max(file.size, 1), value: 0, 'aria-label': file.name })
  const note = h('p', { class: 'note', role: 'status' }, strings.waiting)
  const act = button('✕', () => cancel(), { 'aria-label': `${strings.cancel}: ${file.name}` })
  const row = h(
    'li',
    {},
    h('p', { class: 'name', dir: 'auto' }, inOrder(file.name)),
    act,
    bar,
    note,
  )
  const abort = new AbortController()
  const { signal } = abort
  let hasFailed = false
  let isEnded = false
  /** `undefined` while it waits for others, and once it is over. */
  let state: 'moving' | Held | undefined
  stop.addEventListener('abort', () => abort.abort())
  let cancel = () => {
    abort.abort()
    row.remove()
    onChange()
  }

  /** Sends its bytes, however long that takes. Never rejects. */
  async function run(isAnew: boolean) {
    if (signal.aborted || hasFailed) return
    const headers = batchHeaders(batch, number)
    const options = { door: DOOR, headers, signal, isAnew, onProgress: show }
    const upload = new FileUpload(file, options)
    const failure = await outcomeOf(upload.run())
    if (signal.aborted) return
    if (failure !== undefined) return end(failure)
    state = undefined
    bar.value = file.size
    setText(note, strings.there)
    onChange()
  }

  function show({ state: now, sent, speed, isAnew }: Progress) {
    const { size } = file
    bar.value = sent
    state = now === 'sending' ? 'moving' : now
    onChange()
    if (now !== 'sending') return setText(note, strings.held[now](percentOf(sent)))
    const rate = speed === 0 ? '' : formatBytes(speed)
    const words = strings.sending(formatBytes(sent), formatBytes(size), rate)
    setText(note, isAnew ? `${words} · ${strings.restarted}` : words)
  }

  function percentOf(sent: number) {
    return Math.floor((100 * sent) / Math.max(file.size, 1))
  }

  function showPush(now: Held | 'storing') {
    state = now === 'storing' ? 'moving' : now
    onChange()
    setText(note, now === 'storing' ? strings.storing : strings.held[now](100))
  }

  function end(failure: ClientError | undefined, pushed: Pushed | undefined = undefined) {
    if (signal.aborted) return
    hasFailed = failure !== undefined
    isEnded = true
    state = undefined
    close(pushed === undefined ? wordsOf(failure) : strings.sentTo(pushed))
    onChange()
  }

  function close(words: string) {
    setText(note, words)
    bar.hidden = true
    act.setAttribute('aria-label', `${strings.remove}: ${file.name}`)
    cancel = () => row.remove()
  }

  /** Says, where nobody sends it any more, that it was not sent. */
  function leave() {
    if (!isEnded) close(strings.unsent)
  }

  const isThere = () => !hasFailed && !signal.aborted
  const isOver = () => isEnded || signal.aborted
  const isSent = () => isEnded && isThere()
  const sent = () => (file.size === 0 ? 0 : bar.value)
  const views = { row, isThere, isOver, isSent, state: () => state, sent }
  return { ...views, file, number, signal, run, showPush, end, leave }
}

function wordsOf(failure: ClientError | undefined) {
  return failure === undefined ? strings.sent : strings.failures[failureOf(failure)]
}

/** @returns Why it failed, if it did. */
async function outcomeOf(work: Promise<unknown>): Promise<ClientError | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof ClientError) return error
    throw error
  }
}
