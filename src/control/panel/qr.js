// @ts-check
/**
 * Draws a QR code: dark on white whatever the theme, as many scanners refuse an inverted one.
 * @module
 */

import { svg } from './dom.js'

/** ISO/IEC 18004: four modules of light around the code. */
const QUIET_ZONE = 4

/**
 * @param {readonly string[]} rows Of `0` and `1`, without quiet zone.
 * @param {string} name What screen readers say.
 */
export function drawQr(rows, name) {
  const side = rows.length + 2 * QUIET_ZONE
  return svg(
    'svg',
    { class: 'qr', viewBox: `0 0 ${side} ${side}`, role: 'img', 'aria-label': name },
    svg('rect', { width: side, height: side, fill: '#fff' }),
    svg('path', { d: rows.map(drawRow).join(''), fill: '#000', 'shape-rendering': 'crispEdges' }),
  )
}

/**
 * One bar for each run of dark modules, so that there are no hairlines inside.
 *
 * @param {string} row
 * @param {number} index
 */
function drawRow(row, index) {
  const y = index + QUIET_ZONE
  const bars = [...row.matchAll(/1+/g)].map(({ 0: { length }, index: start }) => {
    return `M${start + QUIET_ZONE} ${y}h${length}v1h-${length}z`
  })
  return bars.join('')
}
