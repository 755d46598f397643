/** Lays text out for people: tables no wider than the terminal, and the help. @module */

import { visible } from './visible.ts'

const GAP = '  '

/** A column never shrinks below this: less of a name is no help. */
const MIN_COLUMN = 8

// East Asian wide characters and emoji take two cells (Unicode Standard Annex 11).
const WIDE: RegExp = new RegExp(
  '[\\p{Emoji_Presentation}\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3' +
    '\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{20000}-\\u{3fffd}]',
  'u',
)

const ZERO_WIDTH = /\p{Mn}|\p{Me}|\u200c|\u200d|\ufe0e|\ufe0f/u

/** How a table that is too wide becomes narrower; columns are named by their headings. */
interface Narrowing {
  /** Never cut, since people type them. */
  readonly whole?: readonly string[]
  /** Left out one after the other, before columns that are not spare are cut. */
  readonly spare?: readonly string[]
}

/**
 * Lines of a table whose first row is its heading. Cells may come from outside.
 *
 * @param columns Cells of the terminal; `undefined` when there is none, then nothing is cut.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  columns: number | undefined,
  { whole = [], spare = [] }: Narrowing = {},
): readonly string[] {
  const cells = rows.map((row) => row.map(visible))
  const natural = widths(cells)
  const [heading = []] = cells
  const isWhole = heading.map((name) => whole.includes(name))
  const [first, ...others] = spare.filter((name) => heading.includes(name))
  if (columns !== undefined && first !== undefined) {
    const least = natural.map((width, index) => {
      const isCut = spare.includes(heading[index] ?? '') && !isWhole[index]
      return isCut ? Math.min(width, MIN_COLUMN) : width
    })
    if (excessOf(least, columns) > 0) {
      const without = heading.indexOf(first)
      const fewer = rows.map((row) => row.filter((_, index) => index !== without))
      return formatTable(fewer, columns, { whole, spare: others })
    }
  }
  const fitted = columns === undefined ? natural : fit(natural, columns, isWhole)
  return cells.map((row) =>
    row
      .map((cell, index) => pad(cut(cell, fitted[index] ?? 0), fitted[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  )
}

/** The width of `text`, in cells of a terminal. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) {
    width += ZERO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  }
  return width
}

/** Cuts `text` to `width` cells, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let kept = ''
  for (const character of text) {
    if (displayWidth(kept + character) > width - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Cells of the help where there is no terminal. */
const HELP_WIDTH = 80

/** Longer lines are hard to read. */
const MAX_HELP_WIDTH = 100

/** Cells of the first column of the help, with its indent and gap. */
const HELP_LEFT = 28

/** That of a narrow terminal, where each text begins below its word. */
const NARROW_LEFT = 6

/** Cells in which both columns have a place side by side. */
const NARROW_WIDTH = 60

/**
 * Lines of two columns; what is too long for the first column has a line to itself.
 *
 * @param columns Those of the terminal, if there is one.
 */
export function formatPairs(
  rows: readonly (readonly [string, string])[],
  columns: number = HELP_WIDTH,
): readonly string[] {
  const width = Math.min(columns, MAX_HELP_WIDTH)
  const wide = width < NARROW_WIDTH ? NARROW_LEFT : HELP_LEFT
  const indent = ' '.repeat(wide)
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrap(right, width - wide)
    const others = rest.map((line) => indent + line)
    const start = `  ${left}`
    return start.length > wide - 2
      ? [start, indent + first, ...others]
      : [start.padEnd(wide) + first, ...others]
  })
}

/** Where the lines below one begin whose text stands behind `start`, in cells. */
export function indentBehind(start: string, columns: number | undefined): number {
  return columns !== undefined && start.length * 2 > columns ? NARROW_LEFT : start.length
}

/**
 * Lines of `text` behind `start`. What follows the first stands below where the text begins; all of
 * it stands further left where `start` takes more than half of the terminal.
 *
 * @param columns Those of the terminal; `undefined` when there is none, then it is one line.
 */
export function formatBehind(
  start: string,
  text: string,
  columns: number | undefined,
): readonly string[] {
  if (columns === undefined || start.length + displayWidth(text) <= columns) return [start + text]
  const left = indentBehind(start, columns)
  const [first = '', ...others] = wrap(text, columns - left)
  const indent = ' '.repeat(left)
  const below = others.map((line) => indent + line)
  const isBelow = left < start.length
  return isBelow ? [start.trimEnd(), indent + first, ...below] : [start + first, ...below]
}

/**
 * Breaks `text` between words, where words allow it.
 *
 * @param columns Those of the terminal, if there is one.
 */
export function wrap(text: string, columns: number = HELP_WIDTH): readonly string[] {
  const width = Math.min(columns, MAX_HELP_WIDTH)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
}

function widths(cells: readonly (readonly string[])[]): readonly number[] {
  const [heading = []] = cells
  return heading.map((_, index) => Math.max(...cells.map((row) => displayWidth(row[index] ?? ''))))
}

/** Narrows the widest column that is not whole again and again until the table fits. */
function fit(natural: readonly number[], columns: number, isWhole: readonly boolean[]) {
  const fitted = [...natural]
  for (let excess = excessOf(natural, columns); excess > 0; excess -= 1) {
    const widths = fitted.map((width, index) => (isWhole[index] ? 0 : width))
    const widest = Math.max(...widths)
    if (widest <= MIN_COLUMN) break
    fitted[widths.indexOf(widest)] = widest - 1
  }
  return fitted
}

/** Cells by which a table with columns of these widths is too wide. */
function excessOf(widths: readonly number[], columns: number): number {
  const gaps = GAP.length * (widths.length - 1)
  return widths.reduce((sum, width) => sum + width, gaps) - columns
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}
