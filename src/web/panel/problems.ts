/**
 * The reasons for which the clipboard is not shared, in plain words at the top of the page.
 * @module
 */

import { h, renderList, section, setText } from '../shared/dom.ts'
import { icon } from './icons.ts'
import { isWildcard } from './state.ts'
import { strings } from './strings.ts'
import type { PanelState } from './state.ts'
export type Problem = { key: string; title: string; text: string; command?: string }

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
    renderList(list, problems, { key: ({ key }) => key, create, update })
  }

  return { section: box, render }
}

function problemsOf({ status, addresses }: PanelState): readonly Problem[] {
  const troubled = status.listeners.filter(({ error }) => error != null)
  const isLocal = addresses.every(({ kind }) => kind === 'loopback')
  const urls = status.listeners.flatMap(({ name, urls }) => (name === 'gateway' ? urls : []))
  const isEverywhere = urls.some(isWildcard)
  const loopbackFix = isEverywhere ? words.networkFix : words.loopbackFix
  return [
    ...troubled.map(({ name, error }) => {
      return { key: name, title: words.listener(name), text: error ?? '' }
    }),
    ...(status.clipboardError == null
      ? []
      : [{ key: 'clipboard', title: words.clipboard, text: status.clipboardError }]),
    ...(status.devicesError == null
      ? []
      : [{ key: 'devices', title: words.devices, text: words.devicesText(status.devicesError) }]),
    ...(status.lostUrls.length === 0
      ? []
      : [{ key: 'lost', title: words.lost, text: words.lostText(status.lostUrls.join(', ')) }]),
    ...(isLocal ? [{ key: 'loopback', title: words.loopback, text: loopbackFix }] : []),
  ]
}

function create({ command }: Problem) {
  const text = h('p', {}, h('span'), ...(command === undefined ? [] : [h('code', {}, command)]))
  return h('li', {}, icon('warning'), h('div', {}, h('h3'), text))
}

function update(element: Element, { title, text }: Problem) {
  const [heading, place] = [element.querySelector('h3'), element.querySelector('span')]
  if (heading !== null) setText(heading, title)
  if (place !== null) setText(place, text)
}
