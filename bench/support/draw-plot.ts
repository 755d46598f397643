/**
 * Draws curves as SVG: no script, no font and no picture from elsewhere. It has a ground of its
 * own, light or dark as the reader's system is, so that it can be read on any page.
 * @module
 */

import { createAxis, type Axis, type Scale } from './axis.ts'
import type { Curve } from './findings.ts'

export interface PlotOptions {
  readonly title: string
  readonly x: AxisOptions
  readonly y: AxisOptions
}

export interface AxisOptions {
  readonly label: string
  readonly unit: string
  readonly scale: Scale
}

const WIDTH = 800
const HEIGHT = 400
const AREA = { left: 74, right: 560, top: 44, bottom: 336 } as const

/** Where the key begins, and how far its lines are apart. */
const KEY = { left: 578, top: 56, line: 20 } as const

/** Points of curves with more of them would hide the curve. */
const MAX_DOTS = 40

/** Told apart also by those who see few colours: after Okabe and Ito. */
const COLOURS: readonly (readonly [light: string, dark: string])[] = [
  ['#0063a6', '#56b4e9'],
  ['#c24a00', '#ff9a4d'],
  ['#00795a', '#2fd0a0'],
  ['#a0387a', '#f09ccb'],
  ['#7a6500', '#e6d33c'],
  ['#555555', '#bbbbbb'],
  ['#5b3fc4', '#a99bff'],
  ['#a80f2e', '#ff7d90'],
]

const STYLE = [
  'text { font: 13px system-ui, sans-serif; fill: #24292f }',
  '.title { font-size: 15px; font-weight: 600 }',
  '.ground { fill: #ffffff }',
  '.grid { stroke: #d8dee4; stroke-width: 1 }',
  '.curve { fill: none; stroke-width: 2; stroke-linejoin: round }',
  ...COLOURS.map(([light], index) => colourRule(index, light)),
  '@media (prefers-color-scheme: dark) {',
  'text { fill: #e6edf3 } .ground { fill: #0d1117 } .grid { stroke: #30363d }',
  ...COLOURS.map(([, dark], index) => colourRule(index, dark)),
  '}',
]

/** @param curves One at least, with one point at least. */
export function drawPlot({ title, x, y }: PlotOptions, curves: readonly Curve[]): string {
  const points = curves.flatMap((curve) => curve.points)
  const across = createAxis(
    x.scale,
    points.map(([value]) => value),
  )
  const up = createAxis(
    y.scale,
    points.map(([, value]) => value),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${STYLE.join('\n')}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    `<text class="title" x="${AREA.left}" y="26">${escapeXml(title)}</text>`,
    ...drawGrid(across, up),
    ...drawLabels(x, y),
    ...curves.flatMap((curve, index) => drawCurve(curve, index % COLOURS.length, across, up)),
    ...curves.flatMap(({ name }, index) => drawKey(name, index)),
    '</svg>',
    '',
  ].join('\n')
}

function colourRule(index: number, colour: string): string {
  return `.c${index} { stroke: ${colour} } .d${index} { fill: ${colour} }`
}

function drawGrid(across: Axis, up: Axis): readonly string[] {
  const { left, right, top, bottom } = AREA
  return [
    ...across.ticks.flatMap(({ at, text }) => {
      const x = toX(at)
      return [
        `<line class="grid" x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>`,
        `<text x="${x}" y="${bottom + 20}" text-anchor="middle">${escapeXml(text)}</text>`,
      ]
    }),
    ...up.ticks.flatMap(({ at, text }) => {
      const y = toY(at)
      return [
        `<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`,
        `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${escapeXml(text)}</text>`,
      ]
    }),
  ]
}

function drawLabels(x: AxisOptions, y: AxisOptions): readonly string[] {
  const [middle, centre] = [(AREA.left + AREA.right) / 2, (AREA.top + AREA.bottom) / 2]
  const turned = `transform="translate(18 ${centre}) rotate(-90)"`
  return [
    `<text x="${middle}" y="${AREA.bottom + 46}" text-anchor="middle">${formatLabel(x)}</text>`,
    `<text ${turned} text-anchor="middle">${formatLabel(y)}</text>`,
  ]
}

function formatLabel({ label, unit }: AxisOptions): string {
  return escapeXml([label, unit === '' || label === '' ? unit : `(${unit})`].join(' ').trim())
}

function drawCurve({ points }: Curve, colour: number, across: Axis, up: Axis): readonly string[] {
  const places = points.map(([x, y]) => [toX(across.place(x)), toY(up.place(y))] as const)
  const line = places.map(([x, y]) => `${x},${y}`).join(' ')
  const dots = places.length > MAX_DOTS ? [] : places
  return [
    `<polyline class="curve c${colour}" points="${line}"/>`,
    ...dots.map(([x, y]) => `<circle class="d${colour}" cx="${x}" cy="${y}" r="3"/>`),
  ]
}

function drawKey(name: string, index: number): readonly string[] {
  const y = KEY.top + index * KEY.line
  return [
    `<rect class="d${index % COLOURS.length}" x="${KEY.left}" y="${y - 7}" width="14" height="4"/>`,
    `<text x="${KEY.left + 20}" y="${y}">${escapeXml(name)}</text>`,
  ]
}

function toX(at: number): number {
  return round(AREA.left + at * (AREA.right - AREA.left))
}

function toY(at: number): number {
  return round(AREA.bottom - at * (AREA.bottom - AREA.top))
}

function round(value: number): number {
  return Number(value.toFixed(1))
}

function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
