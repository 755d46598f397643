/**
 * The means to connect a device, shown once: QR code, link, credentials, and whether it worked.
 *
 * The secrets are in this dialog and nowhere else; closing it forgets them.
 * @module
 */

import { actionButton, announce, errorLine } from './actions.ts'
import { pauseSharing } from './api.ts'
import { button, h, newId, row, section, setAttribute, setText } from '../shared/dom.ts'
import { drawCode } from '../shared/draw-code.ts'
import { formatClient } from '../../lib/format-client.ts'
import { icon } from './icons.ts'
import { currentState, findDevice, onState, type Pairing } from './state.ts'
import { strings } from './strings.ts'
import { now, onTick } from './time.ts'

const words = strings.pairing

/** Somebody who scans the code has connected long before. */
const PATIENCE_MS = 30_000

/** Long enough to paste the link somewhere. */
const PAUSE_MS = 60_000

const HINTS = { on: words.copyHint, paused: words.copyHintPaused, none: words.copyHintHeadless }

/** Shown in place of every password, so that its length is not shown. */
const CONCEALED = '•'.repeat(12)

/** @param seenBefore When the device was seen last, with another password. */
export function showPairing(
  dialog: import('./dialog.ts').Dialog,
  pairing: Pairing,
  seenBefore?: string,
) {
  const { label, username, password, url, warning } = pairing
  const test = createConnectionTest(pairing, seenBefore)
  dialog.onClose(test.stop)

  const code = createCode(pairing)
  const hand = section(
    { class: 'hand' },
    h('h3', {}, words.hand),
    h('p', { class: 'note' }, words.handHint),
    h(
      'dl',
      { class: 'rows' },
      row(words.url, h('dd', { class: 'mono break' }, url)),
      row(words.username, h('dd', { class: 'mono break' }, username)),
      row(words.password, concealed(password)),
    ),
    h('p', { class: 'note' }, words.once),
    createCopyLink(code.link),
  )
  const side = h('div', { class: 'side' }, test.element, hand)
  const columns = h('div', { class: 'pairing' }, code.figure, side)
  const buttons = h('div', { class: 'buttons' }, button(words.done, dialog.close))
  dialog.guard(createQuestion(label, { isWaiting: test.isWaiting, buttons, close: dialog.close }))
  const problem = warning == null ? [] : [h('p', { class: 'trouble' }, warning)]
  dialog.show(words.title(label), ...problem, columns, buttons)
}

/**
 * Asks before the code is gone for good that no device has used yet.
 *
 * @returns Whether the dialog may close.
 */
function createQuestion(
  label: string,
  {
    isWaiting,
    buttons,
    close,
  }: { isWaiting: () => boolean; buttons: HTMLElement; close: () => void },
): () => boolean {
  let isSure = false
  const anyway = button(words.closeAnyway, () => {
    isSure = true
    close()
  })
  const keep = button(words.keepOpen, () => {
    question.remove()
    buttons.hidden = false
    buttons.querySelector('button')?.focus()
  })
  const row = h('div', { class: 'buttons' }, anyway, keep)
  const question = h('div', { role: 'alert' }, h('p', {}, words.closeSure(label)), row)
  return () => {
    if (isSure || !isWaiting()) return true
    buttons.hidden = true
    buttons.after(question)
    keep.focus()
    return false
  }
}

/**
 * Shows the code of the phone page, and at one click that of the connect link, which apps scan.
 *
 * @returns The figure, and a function that says which link it shows.
 */
function createCode({ label, link, page, qr, pageQr }: Pairing) {
  const code = h('div')
  const text = h('figcaption', { role: 'status' })
  const toggle = button('', () => show(!isPage))
  let isPage = false

  function show(wantsPage: boolean) {
    isPage = wantsPage
    const { scan, caption, other } = isPage ? words.page : words.app
    code.replaceChildren(drawCode(isPage ? (pageQr ?? qr) : qr, words.qr(label)))
    text.replaceChildren(h('strong', {}, scan), ' ', caption)
    setText(toggle, other)
  }

  show(pageQr !== null)
  const figure = h('figure', {}, code, text, ...(pageQr === null ? [] : [toggle]))
  return { figure, link: () => (isPage ? (page ?? link) : link) }
}

function concealed(password: string) {
  const text = h('span', { class: 'mono break' }, CONCEALED)
  const toggle = button(words.reveal, () => {
    const isShown = text.textContent === password
    setText(text, isShown ? CONCEALED : password)
    setText(toggle, isShown ? words.reveal : words.conceal)
  })
  return h('dd', { class: 'secret' }, text, toggle)
}

/** Waits for the first request of a device, and says what to check when none comes. */
function createConnectionTest(
  { id, label, username, url, page }: Pairing,
  seenBefore: string | undefined,
) {
  const sign = h('span', { class: 'sign' }, h('span', { class: 'spinner' }))
  const title = h('p', { class: 'test-title' }, words.waiting(label))
  const text = h('p', { class: 'note' }, words.waitingHint)
  const refused = h('p', { class: 'trouble', role: 'status' })
  const state = h('div', { class: 'test-state' }, sign, h('div', {}, title, text, refused))
  const base = url.replace(/\/$/, '')
  const hasPage = page !== null
  const way = h('span', { class: 'mono break' }, `${base}/${hasPage ? 'phone' : 'healthz'}`)
  const checks = h(
    'div',
    { class: 'checks', hidden: true },
    h('p', { class: 'label' }, words.slow),
    h(
      'ul',
      {},
      h('li', {}, hasPage ? words.probe : words.probeBare, way),
      ...words.checks.map((check) => h('li', {}, check)),
    ),
  )
  const element = section({ class: 'test' }, h('h3', {}, words.test), state, checks)
  const startedAt = now()

  function look() {
    // The state may be older than the device.
    const device = findDevice(id)
    const address = device?.refused?.lastAddress
    if (device?.refused != null) setText(refused, words.refused(username, address ?? null))
    if (device?.lastSeenAt == null || device.lastSeenAt === seenBefore) return
    stop()
    isWaiting = false
    const client = device.lastClient ?? ''
    const from = device.lastSeenAddress ?? ''
    sign.replaceChildren(icon('check'))
    setAttribute(element, 'data-state', 'done')
    setText(title, words.seen(label))
    const isKnown = client !== '' && from !== ''
    setText(text, isKnown ? words.seenBy(formatClient(client), from) : words.seenPlain)
    setText(refused, '')
    checks.hidden = true
    announce(words.seen(label))
  }

  function wait() {
    if (now() - startedAt >= PATIENCE_MS) checks.hidden = false
  }

  let isWaiting = true
  const stops = [onState(look), onTick(wait)]
  function stop() {
    for (const end of stops.splice(0)) end()
  }
  look()
  return { element, stop, isWaiting: () => isWaiting }
}

/**
 * Copies the link that is shown without handing it to every paired device: the daemon shares what
 * is on the clipboard of this computer, so it is paused before the link gets there.
 */
function createCopyLink(link: () => string) {
  const errors = errorLine()
  const done = h('p', { class: 'note', role: 'status' })
  const hint = h('p', { id: newId(), class: 'note' })
  const byHand = h('div')
  const act = actionButton({ label: words.copy, errors, run: copy })
  act.setAttribute('aria-describedby', hint.id)

  async function copy() {
    const mustPause = sharing() === 'on'
    if (mustPause) await pauseSharing(PAUSE_MS)
    try {
      await navigator.clipboard.writeText(link())
      setText(done, mustPause ? words.copiedPaused : words.copied)
    } catch {
      // Not allowed, or not there: whatever the reason, a person can still copy it.
      select()
    }
  }

  function select() {
    const attributes = { type: 'text', class: 'mono', readonly: true, 'aria-label': words.link }
    const field = h('input', attributes)
    field.value = link()
    byHand.replaceChildren(field)
    field.select()
    setText(done, words.select)
  }

  const element = h('div', { class: 'copy' }, act, hint, done, byHand, errors)
  const renderHint = () => setText(hint, HINTS[sharing()])
  renderHint()
  const stop = onState(() => (element.isConnected ? renderHint() : stop()))
  return element
}

/** Whether what gets on the clipboard of this computer is shared, for the next minute at least. */
function sharing() {
  const { mode, clipboard, paused } = currentState().status
  if (mode === 'headless' || clipboard === 'none') return 'none'
  const isPaused = paused != null && (paused.untilMs === null || paused.untilMs >= now() + PAUSE_MS)
  return isPaused ? 'paused' : 'on'
}
