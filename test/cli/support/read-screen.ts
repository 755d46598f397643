/**
 * Reads QR codes off a terminal, as a camera does.
 * @module
 */

import decodeQR from 'qr/decode.js'

const SCALE = 4

/** What a camera sees: each character is two square modules, one above the other. */
export function photograph(lines: readonly string[], columns: number) {
  const width = columns * SCALE
  const height = lines.length * 2 * SCALE
  const data = new Uint8Array(width * height * 3)
  lines.forEach((line, row) => {
    readCells(line).forEach(({ upper, lower }, column) => {
      for (let y = 0; y < 2 * SCALE; y++) {
        for (let x = 0; x < SCALE; x++) {
          const at = ((row * 2 * SCALE + y) * width + column * SCALE + x) * 3
          data.fill(y < SCALE ? upper : lower, at, at + 3)
        }
      }
    })
  })
  return { width, height, data }
}

/** The two brightnesses of each character, as a terminal of 256 colours shows it. */
export function readCells(line: string): readonly { upper: number; lower: number }[] {
  const brightness: Readonly<Record<string, number>> = { 16: 0, 231: 255 }
  const cells: { upper: number; lower: number }[] = []
  let [front, back] = [Number.NaN, Number.NaN]
  for (const [whole, fg, bg] of line.matchAll(/\u001b\[38;5;(\d+);48;5;(\d+)m|\u001b\[0m|./gu)) {
    if (fg !== undefined && bg !== undefined) {
      front = brightness[fg] ?? Number.NaN
      back = brightness[bg] ?? Number.NaN
    } else if (whole === '▀') cells.push({ upper: front, lower: back })
    else if (whole === ' ') cells.push({ upper: back, lower: back })
    else [front, back] = [Number.NaN, Number.NaN]
  }
  return cells
}

/** What is in a window at the end, when long lines have taken several rows each. */
export function lastRows(printed: string, columns: number, rows: number): readonly string[] {
  const row = new RegExp(`.{1,${columns}}`, 'gu')
  const lines = printed.replaceAll('\r', '').split('\n')
  return lines
    .flatMap((line) => (line.startsWith('\u001b[') ? [line] : (line.match(row) ?? [''])))
    .slice(-rows)
}

/** The text of the code in what a command printed. */
export function readScreen(printed: string): string {
  const lines = printed.split('\n').filter((line) => line.startsWith('\u001b['))
  const columns = readCells(lines[0] ?? '').length
  return decodeQR(photograph(lines, columns))
}
