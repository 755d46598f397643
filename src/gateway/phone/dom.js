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

/** A number of bytes in words: `1.5 MiB`, `17 bytes`; those of the panel and of notifications. */
export function formatBytes(/** @type {number} */ bytes, language = document.documentElement.lang) {
  if (bytes < 1024) {
    return bytes.toLocaleString(language, {
      ...{ style: 'unit', unit: 'byte', unitDisplay: 'long', useGrouping: false },
    })
  }
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  let value = bytes / 1024
  let index = 0
  // 1023.5 would be rounded to 1024.
  for (; value >= 1023.5 && index < units.length - 1; index++) value /= 1024
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${units[index]}`
}
