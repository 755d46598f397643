/** Makes and changes elements. Text is only ever text: nothing here takes markup. @module */

/** Characters with which a name can be shown with the ending of another kind of file. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g

const SVG = 'http://www.w3.org/2000/svg'

type AttributeValue = string | number | boolean | undefined
export type Attributes = Readonly<Record<string, AttributeValue>>
type Child = Node | string

/** Makes an element. `true` is an empty attribute; `false` and `undefined` are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
) {
  return fill(document.createElement(tag), attributes, children)
}

/** Makes a button that does nothing else meanwhile. */
export function button(label: string, onClick: () => unknown, attributes: Attributes = {}) {
  const element = h('button', { type: 'button', ...attributes }, label)
  element.addEventListener('click', onClick)
  return element
}

/** Makes an element of a drawing. */
export function svg(tag: string, attributes: Attributes, ...children: Element[]) {
  return fill(document.createElementNS(SVG, tag), attributes, children)
}

function fill<Filled extends Element>(
  element: Filled,
  attributes: Attributes,
  children: readonly Child[],
) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  element.append(...children)
  return element
}

/** A section that its first heading names. */
export function section(attributes: Attributes, ...children: Child[]) {
  const element = h('section', attributes, ...children)
  const heading = element.querySelector('h2, h3')
  if (heading === null) throw new Error('The section has no heading')
  heading.id = newId()
  setAttribute(element, 'aria-labelledby', heading.id)
  return element
}

/** A term and its value, in a list of facts. */
export function row(term: string, value: HTMLElement) {
  return h('div', {}, h('dt', {}, term), value)
}

/** Touches the attribute only when it changes, so that nothing is announced twice. */
export function setAttribute(element: Element, name: string, value: AttributeValue) {
  if (value === undefined || value === false) return element.removeAttribute(name)
  const text = value === true ? '' : String(value)
  if (element.getAttribute(name) !== text) element.setAttribute(name, text)
}

/** A name from elsewhere as it is shown: in the order that its characters have. */
export function inOrder(name: string) {
  return name.replace(TURNING, '\ufffd')
}

/** Touches the text only when it changes. */
export function setText(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text
}

const updaters: WeakMap<Element, (value: unknown) => void> = new WeakMap()

interface ListView<Value> {
  readonly key: (value: Value) => string
  /** Makes an element, and what brings it up to date. */
  readonly create: (value: Value) => { element: Element; update: (value: Value) => void }
  /** Gets the focus when what had it is gone. */
  readonly fallback?: HTMLElement
}

/**
 * Brings the children of `parent` in line with `values`. An element stays the same one as long as
 * its key is there, and is moved only when the order has changed: focus and selection survive.
 */
export function renderList<Value>(
  parent: Element,
  values: readonly Value[],
  { key, create, fallback }: ListView<Value>,
) {
  const hadFocus = parent.contains(document.activeElement)
  const known = new Map(
    [...parent.children].map((child) => [child.getAttribute('data-key'), child]),
  )
  const wanted = new Set(values.map(key))
  for (const [name, child] of known) if (!wanted.has(name ?? '')) child.remove()
  let place = parent.firstElementChild
  for (const value of values) {
    const name = key(value)
    const element = known.get(name) ?? make(value)
    setAttribute(element, 'data-key', name)
    updaters.get(element)?.(value)
    if (element === place) place = place.nextElementSibling
    else parent.insertBefore(element, place)
  }
  if (hadFocus && !parent.contains(document.activeElement)) fallback?.focus()

  function make(first: Value) {
    const { element, update } = create(first)
    updaters.set(element, (value) => update(value as Value))
    return element
  }
}

let ids = 0

/** A new id, for labels that point at what they name. */
export function newId() {
  ids += 1
  return `e${ids}`
}
