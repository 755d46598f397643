/** How the daemon itself is: clipboard, listeners, storage, version. @module */

import { actionButton } from './actions.ts'
import { confirmSignOut } from './confirm.ts'
import { h, renderList, row, section, setAttribute } from '../shared/dom.ts'
import { formatBytes } from '../shared/language.ts'
import { isWildcard, trustPageFor, type PanelState, type Status } from './state.ts'
import { strings } from './strings.ts'
import { createTime, setTime } from './time.ts'

interface Fact {
  readonly key: string
  readonly term: string
  readonly lines: readonly string[]
  /** Set in a font that tells all characters apart. */
  readonly isCode?: boolean
  readonly trouble?: string | null
  /** A time, which ages. */
  readonly at?: number
}

const words = strings.daemon

/** The part of the page about the daemon. */
export function createDaemonView() {
  const heading = h('h2', { tabindex: -1 }, words.heading)
  const facts = h('dl', { class: 'rows' })
  const run = () => confirmSignOut(heading)
  const signOut = actionButton({ label: words.signOut, look: 'quiet', run })
  const parts = [h('header', {}, heading), facts, h('footer', {}, signOut)]

  function render(state: PanelState) {
    renderList(facts, factsOf(state), { key: ({ key }) => key, create })
  }

  return { section: section({ class: 'card daemon' }, ...parts), render }
}

function factsOf({ status, addresses }: PanelState): readonly Fact[] {
  const { clipboard, listeners, peers, bus, storage, mode, startedAt, tls } = status
  const staged = words.uploads(storage.stagedUploads, formatBytes(storage.stagedBytes))
  const names: Readonly<Record<string, string>> = words.clipboards
  const name = names[clipboard] ?? clipboard
  return [
    { key: 'clipboard', term: words.clipboard, lines: [name], trouble: status.clipboardError },
    ...listeners.map(({ name, urls, error }) => {
      const term = words.listeners[name]
      const secure = tls?.urls ?? []
      const plain = addresses.map(({ url }) => url).filter((url) => !secure.includes(url))
      // Nobody can connect to "all addresses".
      const reachable = urls.some(isWildcard) ? plain : urls
      const lines = name === 'tls' ? secure : reachable
      const trouble = error ?? (name === 'tls' ? (tls?.error ?? null) : null)
      return { key: `listener ${name}`, term, lines, isCode: true, trouble }
    }),
    ...(tls == null ? [] : factsOfTrust(tls)),
    ...peers.map(({ name, state, error }) => {
      const lines = [`${name}: ${words.peerStates[state]}`]
      return { key: `peer ${name}`, term: words.peer, lines, trouble: error }
    }),
    ...(bus === null ? [] : [factOf(bus)]),
    { key: 'free', term: words.free, lines: [formatBytes(storage.freeBytes)] },
    { key: 'staged', term: words.staged, lines: [staged] },
    { key: 'folder', term: words.folder, lines: [storage.dataDir], isCode: true },
    { key: 'mode', term: words.mode, lines: mode === null ? [] : [words.modes[mode]] },
    { key: 'started', term: words.started, lines: [], at: Date.parse(startedAt ?? '') },
    { key: 'version', term: words.version, lines: [status.version] },
  ]
}

/** The facts about the authority that phones are to trust, if it is ours. */
function factsOfTrust({ urls, fingerprint }: NonNullable<Status['tls']>): readonly Fact[] {
  const page = urls.map(trustPageFor).find(Boolean)
  return [
    { key: 'fingerprint', term: words.fingerprint, lines: [fingerprint], isCode: true },
    { key: 'trust', term: words.trust, lines: [page], isCode: true },
  ].flatMap(({ lines: [line], ...fact }) => (line == null ? [] : [{ ...fact, lines: [line] }]))
}

function factOf(bus: NonNullable<Status['bus']>): Fact {
  const { group, state, members, refused, error } = bus
  const lines = [`${group}: ${words.busStates[state]}, ${words.busMembers(members)}`]
  return { key: 'bus', term: words.bus, lines, trouble: error ?? words.busRefused(refused) }
}

function create({ term }: Fact) {
  const value = h('dd')
  return { element: row(term, value), update: (fact: Fact) => update(value, fact) }
}

/** Between the parts of an address, a path or a fingerprint, where a line may end first. */
const BREAKS = /(?=:\d+$)|(?<=[^:/]\/)|(?<=:)(?=[\dA-F]{2}:|[\dA-F]{2}$)/

function breakable(line: string) {
  return line.split(BREAKS).flatMap((part) => [h('wbr'), part])
}

function update(value: HTMLElement, fact: Fact) {
  const { lines, isCode = false, trouble, at } = fact
  const text = JSON.stringify(fact)
  // Rebuilt only when it changed.
  if (value.getAttribute('data-fact') === text) return
  setAttribute(value, 'data-fact', text)
  const look = isCode ? 'mono break line' : 'break line'
  value.replaceChildren(...lines.map((line) => h('span', { class: look }, ...breakable(line))))
  if (trouble) value.append(h('p', { class: 'trouble' }, trouble))
  if (at === undefined || Number.isNaN(at)) return
  const time = createTime()
  value.append(time)
  setTime(time, at)
}
