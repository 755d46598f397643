/**
 * The measured figures of README.md, which are all of one run: the one that is kept. Behind each
 * stands the row and the column that it is of, which readers do not see:
 * `730 MB/s<!--B3b:measured-->`.
 * @module
 */

import { HEADING } from './print-rows.ts'

const FLOOR: number = HEADING.indexOf('floor')

const MARKED = /\d[\d.]*(?: [a-zµ/%]+)?<!--([^:>]+):(measured|baseline|ratio)-->/gi

/** What only a run can know. */
const BARE = /\d[\d.,]* (?:[kMG]B\/s|req\/s|requests a second|[mµ]s|milliseconds)\b(?!<!--)/

/**
 * Puts the figures of a run into a page.
 *
 * @param rows The cells of each row of the run, in the order of {@link HEADING}.
 * @throws {Error} For a figure of a row that the run has not, and for one that names no row.
 */
export function updateFigures(page: string, rows: readonly (readonly string[])[]): string {
  const [bare] = BARE.exec(page) ?? []
  if (bare !== undefined) throw new Error(`"${bare}" is of no run: no row is named behind it`)
  return page.replace(MARKED, (_, budget: string, column: string) => {
    // Comparisons with the servers of others have its name, and no floor.
    const row = rows.find((cells) => cells[0] === budget && cells[FLOOR] !== '')
    const [figure = ''] = row?.[HEADING.indexOf(column)]?.split(' ±') ?? []
    if (figure === '') throw new Error(`The run has no "${column}" of "${budget}"`)
    return `${figure}<!--${budget}:${column}-->`
  })
}
