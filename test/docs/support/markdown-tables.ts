/**
 * The tables of a Markdown page, as text: GitHub's extension of CommonMark, section 4.10.
 *
 * Only tables whose lines begin with a pipe, as all of ours do.
 * @module
 */

export interface Table {
  /** The heading that it stands under. */
  readonly section: string
  readonly header: readonly string[]
  /** As many cells in each as in the header. */
  readonly rows: readonly (readonly string[])[]
}

const HEADING = /^#{1,6} +(.+?)(?: +#+)? *$/
const DELIMITER = /^\|(?: *:?-+:? *\|)+ *$/
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** @throws {Error} When a row has more or fewer cells than its header. */
export function parseTables(page: string): readonly Table[] {
  const tables: Table[] = []
  let section = ''
  let block: string[] = []
  for (const line of [...linesOutsideCode(page), '']) {
    if (line.startsWith('|')) {
      block.push(line)
      continue
    }
    const [header = '', delimiter = '', ...rows] = block
    if (DELIMITER.test(delimiter)) tables.push(toTable(section, header, rows))
    block = []
    section = HEADING.exec(line)?.[1] ?? section
  }
  return tables
}

function* linesOutsideCode(page: string): Generator<string> {
  let fence: string | undefined
  for (const line of page.split('\n')) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark === undefined) yield line
    else if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) === true) fence = undefined
  }
}

function toTable(section: string, headerLine: string, rowLines: readonly string[]): Table {
  const header = splitRow(headerLine)
  const rows = rowLines.map(splitRow)
  const odd = rows.findIndex((row) => row.length !== header.length)
  if (odd !== -1) throw new Error(`A row of another length in "${section}": ${rowLines[odd]}`)
  return { section, header, rows }
}

/** Cells end at pipes, unless those are escaped; that holds inside of code, too. */
function splitRow(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim())
}
