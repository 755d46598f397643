// @ts-check
/**
 * Makes and changes elements. Text is only ever text: nothing here takes markup.
 * @module
 */

/** @typedef {Readonly<Record<string, string | number | boolean | undefined>>} Attributes */

/**
 * Makes an element. `true` is an empty attribute; `false` and `undefined` are none.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {readonly (Node | string)[]} children
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value))
    }
  }
  element.append(...children)
  return element
}

/**
 * Makes a button that does nothing else meanwhile.
 *
 * @param {string} label
 * @param {() => unknown} onClick
 * @param {Attributes} [attributes]
 */
export function button(label, onClick, attributes = {}) {
  const element = h('button', { type: 'button', ...attributes }, label)
  element.addEventListener('click', onClick)
  return element
}

/** Touches the text only when it changes, so that nothing is announced twice. */
export function setText(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text
}

/** Puts a number of bytes into words. */
export function formatBytes(/** @type {number} */ bytes) {
  const units = ['B', 'kB', 'MB', 'GB']
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  const number = value.toLocaleString(document.documentElement.lang, {
    maximumFractionDigits: digits,
  })
  return `${number} ${units[unit]}`
}
