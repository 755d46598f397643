// @ts-check
/**
 * Looks at a page as it is drawn: is every text readable, is every control big enough to hit and
 * inside the window?
 * @module
 */

/** WCAG 2.2, 1.4.3. */
const MIN_CONTRAST = 4.5

/** WCAG 2.2, 2.5.8, in CSS pixels. */
const MIN_TARGET = 24

/** @typedef {readonly [red: number, green: number, blue: number, alpha: number]} Colour */

/**
 * @param {Element} root
 * @returns {{ texts: number, findings: string[] }}
 */
export function audit(root) {
  /** @type {string[]} */
  const findings = []
  let texts = 0
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    const text = walker.currentNode.textContent?.trim() ?? ''
    if (element === null || text === '' || !isSeen(element)) continue
    texts += 1
    const ratio = contrastOf(element)
    if (ratio < MIN_CONTRAST) findings.push(`contrast ${ratio.toFixed(2)}: ${text}`)
  }
  for (const control of root.querySelectorAll('button, input:not([type=radio]), label.option')) {
    if (!isSeen(control)) continue
    const { width, height, left, right } = control.getBoundingClientRect()
    const name = `${control.tagName} ${control.textContent}`
    if (Math.min(width, height) < MIN_TARGET) findings.push(`small: ${name}`)
    if (left < 0 || right > innerWidth) findings.push(`outside: ${name}`)
  }
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) findings.push(`scrolls sideways: ${scrollWidth} of ${clientWidth}`)
  return { texts, findings }
}

function isSeen(/** @type {Element} */ element) {
  if (element.closest('.unseen') !== null) return false
  return element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
}

function contrastOf(/** @type {Element} */ element) {
  const ground = groundOf(element)
  const ink = over(parseColour(getComputedStyle(element).color), ground)
  const [dark = 0, light = 0] = [luminance(ink), luminance(ground)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** @returns {Colour} What is behind the text of an element. */
function groundOf(/** @type {Element} */ element) {
  const layers = []
  for (let at = /** @type {Element | null} */ (element); at !== null; at = at.parentElement) {
    const layer = parseColour(getComputedStyle(at).backgroundColor)
    layers.push(layer)
    if (layer[3] === 1) break
  }
  return layers.reduceRight(
    (ground, layer) => over(layer, ground),
    /** @type {Colour} */ ([255, 255, 255, 1]),
  )
}

/** @returns {Colour} of a text as browsers compute it: `rgb(1, 2, 3)` or `rgba(1, 2, 3, 0.5)`. */
function parseColour(/** @type {string} */ text) {
  const [red, green, blue, alpha = 1] = [...text.matchAll(/[\d.]+/g)].map(Number)
  if (!text.startsWith('rgb') || red === undefined || green === undefined || blue === undefined) {
    throw new Error(`Cannot read the colour "${text}"`)
  }
  return [red, green, blue, alpha]
}

/** @returns {Colour} of the first one, drawn over the other. */
function over(/** @type {Colour} */ [red, green, blue, alpha], /** @type {Colour} */ lower) {
  /** @param {number} value @param {number} under */
  const mix = (value, under) => value * alpha + under * (1 - alpha)
  return [mix(red, lower[0]), mix(green, lower[1]), mix(blue, lower[2]), 1]
}

/** WCAG 2.2: relative luminance. */
function luminance(/** @type {Colour} */ [red, green, blue]) {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
