/**
 * Draws the icon as a PNG, for those who take no SVG: home screens.
 *
 * It knows the shapes that the icon has, a square with round corners and arches, and no others.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { writePng } from '../lib/write-png.js'

/** @typedef {{ x: number, top: number, foot: number, radius: number, colour: Colour }} Arch */
/** @typedef {readonly [number, number, number]} Colour */

const RECT = /<rect width="(\d+)" height="\1" rx="(\d+)" fill="(#\w+)"\/>/
const ARCH =
  /<path d="M([\d.]+) ([\d.]+)[Vv](-?[\d.]+)a([\d.]+) \4 0 0 1 [\d.]+ 0V\2" fill="none" stroke="(#\w+)" stroke-width="([\d.]+)" stroke-linecap="round"\/>/g

/**
 * Draws it.
 *
 * @param {string} path Of the SVG.
 * @param {object} look
 * @param {number} look.side In pixels.
 * @param {boolean} [look.isFull] Fills the square: the system cuts the corners off.
 * @param {number} [look.scale] Of what is inside.
 * @throws {Error} When the icon has other shapes.
 */
export async function drawIcon(path, { side, isFull = false, scale = 1 }) {
  const svg = await readFile(path, 'utf8')
  const [, width = '', corner = '', ground = ''] = RECT.exec(svg) ?? []
  const arches = [...svg.matchAll(ARCH)].map(toArch)
  if (width === '' || arches.length !== svg.split('<path').length - 1) {
    throw new Error('The icon has shapes that cannot be drawn')
  }
  const [middle, unit] = [Number(width) / 2, Number(width) / side]
  const data = new Uint8ClampedArray(4 * side * side)
  for (let at = 0; at < side * side; at += 1) {
    const [x, y] = [((at % side) + 0.5) * unit, (Math.floor(at / side) + 0.5) * unit]
    let colour = toColour(ground)
    const [inX, inY] = [(x - middle) / scale + middle, (y - middle) / scale + middle]
    for (const arch of arches) {
      const share = covered(distanceTo(arch, inX, inY) * scale, unit)
      colour = mix(colour, arch.colour, share)
    }
    const opacity = isFull
      ? 1
      : covered(outside(x - middle, y - middle, middle, Number(corner)), unit)
    data.set([...colour, Math.round(255 * opacity)], 4 * at)
  }
  return writePng({ data, width: side, height: side }, 9)
}

/** @param {RegExpMatchArray} match @returns {Arch & { half: number }} */
function toArch([all, x, foot, top, radius, stroke = '', width]) {
  const rise = Number(top)
  return {
    x: Number(x) + Number(radius),
    top: all.includes('v') ? Number(foot) + rise : rise,
    foot: Number(foot),
    radius: Number(radius),
    colour: toColour(stroke),
    half: Number(width) / 2,
  }
}

/**
 * How far a point is outside of the line of an arch; less than 0 inside.
 *
 * @param {Arch & { half: number }} arch @param {number} x @param {number} y
 */
function distanceTo(arch, x, y) {
  const aside = Math.abs(x - arch.x)
  const toMiddle =
    y < arch.top
      ? Math.abs(Math.hypot(aside, y - arch.top) - arch.radius)
      : Math.hypot(aside - arch.radius, Math.max(0, y - arch.foot))
  return toMiddle - arch.half
}

/**
 * How far a point is outside of a square with round corners around 0.
 *
 * @param {number} x @param {number} y @param {number} half @param {number} corner
 */
function outside(x, y, half, corner) {
  const [far, up] = [Math.abs(x) - half + corner, Math.abs(y) - half + corner]
  return Math.hypot(Math.max(0, far), Math.max(0, up)) + Math.min(0, Math.max(far, up)) - corner
}

/** The share of a pixel that a shape covers. @param {number} distance @param {number} unit */
function covered(distance, unit) {
  return Math.max(0, Math.min(1, 0.5 - distance / unit))
}

/** @param {Colour} below @param {Colour} above @param {number} share @returns {Colour} */
function mix(below, above, share) {
  const [red, green, blue] = below
  const [overRed, overGreen, overBlue] = above
  return [
    red + (overRed - red) * share,
    green + (overGreen - green) * share,
    blue + (overBlue - blue) * share,
  ]
}

/** @param {string} code Such as `#fff`. @returns {Colour} */
function toColour(code) {
  const digits = code.length === 4 ? code.replace(/\w/g, '$&$&') : code
  const value = Number.parseInt(digits.slice(1), 16)
  return [value >> 16, (value >> 8) & 0xff, value & 0xff]
}
