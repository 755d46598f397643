/** Draws QR codes. @module */

import { svg } from './dom.ts'

/** ISO/IEC 18004: four modules of light around the code. */
const QUIET_ZONE = 4

/**
 * Draws a QR code: dark on white whatever the theme, as many scanners refuse an inverted one.
 *
 * @param rows Of `0` (light) and `1` (dark).
 */
export function drawCode(rows: readonly string[], name: string): SVGElement {
  const side = rows.length + 2 * QUIET_ZONE
  return svg(
    'svg',
    { class: 'qr', viewBox: `0 0 ${side} ${side}`, role: 'img', 'aria-label': name },
    svg('rect', { width: side, height: side, fill: '#fff' }),
    svg('path', { d: rows.map(drawRow).join(''), fill: '#000', 'shape-rendering': 'crispEdges' }),
  )
}

/** One bar for each run of dark modules, so that there are no hairlines inside. */
function drawRow(modules: string, index: number) {
  const y = index + QUIET_ZONE
  const bars = [...modules.matchAll(/1+/g)].map(({ 0: { length }, index: start }) => {
    return `M${start + QUIET_ZONE} ${y}h${length}v1h-${length}z`
  })
  return bars.join('')
}
