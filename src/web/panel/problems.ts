/**
 * The reasons for which the clipboard is not shared, in plain words at the top of the page.
 * @module
 */

import { h, renderList, section, setText } from '../shared/dom.ts'
import { icon } from './icons.ts'
import { isWildcard, type PanelState } from './state.ts'
import { strings } from './strings.ts'
type Problem = { key: string; title: string; text: string; command?: string }

const words = strings.problems

const AWAY: Problem = {
  key: 'away',
  title: words.awayTitle,
  text: words.away,
  command: words.awayCommand,
}

/** The list of problems. */
export function createProblemsView() {
  const heading = h('h2', { class: 'unseen' }, words.heading)
  const list = h('ul')
  const box = section({ class: 'problems', hidden: true }, heading, list)

  function render(state: PanelState | undefined, { isAway }: { isAway: boolean }) {
    const known = state === undefined ? [] : problemsOf(state)
    const problems = isAway ? [AWAY, ...known] : known
    box.hidden = problems.length === 0
    renderList(list, problems, { key: ({ key }) => key, create })
  }

  return { section: box, render }
}

function problemsOf({ status, addresses }: PanelState): readonly Problem[] {
  const isLocal = addresses.every(({ kind }) => kind === 'loopback')
  const urls = status.listeners.flatMap(({ name, urls }) => (name === 'gateway' ? urls : []))
  const isEverywhere = urls.some(isWildcard)
  const loopbackFix = isEverywhere ? words.networkFix : words.loopbackFix
  const { clipboardError, receivedError, devicesError, lostUrls } = status
  const unsaved = devicesError == null ? null : words.devicesText(devicesError)
  const missing = receivedError == null ? null : words.receivedText(receivedError)
  const lost = lostUrls.length === 0 ? null : words.lostText(lostUrls.join(', '))
  return [
    ...status.listeners.map(({ name, error }) => {
      return { key: String(name), title: words.listener(name), text: error }
    }),
    { key: 'clipboard', title: words.clipboard, text: clipboardError },
    { key: 'received', title: words.received, text: missing },
    { key: 'devices', title: words.devices, text: unsaved },
    { key: 'lost', title: words.lost, text: lost },
    { key: 'loopback', title: words.loopback, text: isLocal ? loopbackFix : null },
  ].flatMap(({ text, ...problem }) => (text == null ? [] : [{ ...problem, text }]))
}

function create({ command }: Problem) {
  const [heading, sentences] = [h('h3'), h('span')]
  const more = command === undefined ? [] : [h('code', {}, command)]
  const about = h('div', {}, heading, h('p', {}, sentences, ...more))
  function update({ title, text }: Problem) {
    setText(heading, title)
    setText(sentences, text)
  }
  return { element: h('li', {}, icon('warning'), about), update }
}
