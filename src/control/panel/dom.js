// @ts-check
/**
 * Makes and changes elements. Text is only ever text: nothing here takes markup.
 * @module
 */

const SVG = 'http://www.w3.org/2000/svg'

/** @typedef {string | number | boolean | undefined} AttributeValue */
/** @typedef {Readonly<Record<string, AttributeValue>>} Attributes */
/** @typedef {Node | string} Child */

/**
 * Makes an element. `true` is an empty attribute; `false` and `undefined` are none.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {readonly Child[]} children
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children)
}

/** Makes an element of a drawing. */
export function svg(
  /** @type {string} */ tag,
  /** @type {Attributes} */ attributes,
  /** @type {Element[]} */ ...children
) {
  return fill(document.createElementNS(SVG, tag), attributes, children)
}

/**
 * @template {Element} Filled
 * @param {Filled} element
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  element.append(...children)
  return element
}

/** A section that its first heading names. */
export function section(/** @type {Attributes} */ attributes, /** @type {Child[]} */ ...children) {
  const element = h('section', attributes, ...children)
  const heading = element.querySelector('h2, h3')
  if (heading === null) throw new Error('The section has no heading')
  heading.id = newId()
  setAttribute(element, 'aria-labelledby', heading.id)
  return element
}

/** A term and its value, in a list of facts. */
export function row(/** @type {string} */ term, /** @type {HTMLElement} */ value) {
  return h('div', {}, h('dt', {}, term), value)
}

/**
 * Touches the attribute only when it changes, so that nothing is announced twice.
 *
 * @param {Element} element
 * @param {string} name
 * @param {AttributeValue} value
 */
export function setAttribute(element, name, value) {
  if (value === undefined || value === false) return element.removeAttribute(name)
  const text = value === true ? '' : String(value)
  if (element.getAttribute(name) !== text) element.setAttribute(name, text)
}

/** Touches the text only when it changes. */
export function setText(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text
}

/**
 * Brings the children of `parent` in line with `values`. An element stays the same one as long as
 * its key is there, and is moved only when the order has changed: focus and selection survive.
 *
 * @template Value
 * @param {Element} parent
 * @param {readonly Value[]} values
 * @param {object} how
 * @param {(value: Value) => string} how.key
 * @param {(value: Value) => Element} how.create
 * @param {(element: Element, value: Value) => void} how.update
 */
export function renderList(parent, values, { key, create, update }) {
  const known = new Map(
    [...parent.children].map((child) => [child.getAttribute('data-key'), child]),
  )
  const wanted = new Set(values.map(key))
  for (const [name, child] of known) if (!wanted.has(name ?? '')) child.remove()
  let place = parent.firstElementChild
  for (const value of values) {
    const name = key(value)
    const element = known.get(name) ?? create(value)
    setAttribute(element, 'data-key', name)
    update(element, value)
    if (element === place) place = place.nextElementSibling
    else parent.insertBefore(element, place)
  }
}

let ids = 0

/** A new id, for labels that point at what they name. */
export function newId() {
  ids += 1
  return `e${ids}`
}

/** Where {@link announce} says things. */
export const announcer = h('p', { class: 'unseen', role: 'status' })

/** Says a change to screen readers, when they have a moment. Eyes see it anyway. */
export function announce(/** @type {string} */ text) {
  setText(announcer, text)
}
