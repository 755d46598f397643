/** The list of what happened lately: who sent what kind, logged in, came or went. @module */

import { OWNER_ID } from '../../core/owner.ts'
import { h, renderList, section, setText } from '../shared/dom.ts'
import { formatBytes } from '../shared/language.ts'
import { createFew } from './few.ts'
import { formatExact } from './format.ts'
import { currentState, type Happened } from './state.ts'
import { strings } from './strings.ts'
import { createTime, setTime } from './time.ts'

const words = strings.happened

/** The list of what happened. */
export function createHappenedView() {
  const few = createFew(() => render(currentState().happenings))
  const list = h('ul', { class: 'happened' })
  const note = h('p', { class: 'note' })
  const header = h('header', {}, h('h2', {}, words.heading))

  function render(happenings: readonly Happened[]) {
    setText(note, happenings.length === 0 ? words.none : words.hint)
    const key = ({ id, at }: Happened) => `${at} ${id}`
    renderList(list, few.take(happenings), { key, create: createRow })
  }

  return { section: section({ class: 'card' }, header, list, few.button, note), render }
}

function createRow(happened: Happened) {
  const age = createTime()
  const text = h('p', { class: 'break', dir: 'auto' }, describe(happened))
  const element = h('li', {}, text, h('p', { class: 'facts' }, age))
  return { element, update: ({ at }: Happened) => setTime(age, Date.parse(at)) }
}

function describe({ kind, device, label, by, type, size, times, address, untilMs }: Happened) {
  return words.sentences[kind]({
    name: device === OWNER_ID ? words.owner : (label ?? words.other),
    what: `${words.things[type ?? 'File']} (${formatBytes(size ?? 0)})`,
    by: words.by[by ?? 'command'],
    times: times ?? 1,
    address: address ?? words.unknown,
    until: untilMs == null ? null : formatExact(untilMs),
  })
}
