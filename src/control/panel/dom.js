// @ts-check
/**
 * Makes and changes elements. Text is only ever text: nothing here takes markup.
 * @module
 */

const SVG = 'http://www.w3.org/2000/svg'

/** @typedef {Readonly<Record<string, string | number | boolean | undefined>>} Attributes */
/** @typedef {Node | string | undefined} Child */

/**
 * Makes an element. `true` is an empty attribute; `false` and `undefined` are none.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {readonly Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  element.append(...present(children))
  return element
}

/**
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {readonly Child[]} children
 * @returns {Element}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value)
  element.append(...present(children))
  return element
}

/**
 * Touches the attribute only when it changes, so that nothing is announced twice.
 *
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | undefined} value
 */
export function setAttribute(element, name, value) {
  if (value === undefined || value === false) return element.removeAttribute(name)
  const text = value === true ? '' : String(value)
  if (element.getAttribute(name) !== text) element.setAttribute(name, text)
}

/**
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
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
    let element = known.get(name)
    if (element === undefined) {
      element = create(value)
      element.setAttribute('data-key', name)
    }
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

const region = h('p', { class: 'unseen', role: 'status' })

/** Where {@link announce} says things. */
export function announcer() {
  return region
}

/**
 * Says a change to screen readers, when they have a moment. Eyes see it anyway.
 *
 * @param {string} text
 */
export function announce(text) {
  setText(region, text)
}

/**
 * @param {readonly Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return /** @type {(Node | string)[]} */ (children.filter((child) => child !== undefined))
}
