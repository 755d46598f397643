import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import decodeQR from 'qr/decode.js'
import { drawQr } from '../../src/cli/qr.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'

/** A link as `pair` makes it, with a URL of the given length. */
function link(urlLength: number): string {
  return formatConnectLink({
    url: `http://${'a'.repeat(urlLength - 7)}`,
    user: `mobile_${randomBytes(4).toString('hex')}`,
    pwd: randomBytes(16).toString('base64url'),
    o: {
      did: `did_${randomBytes(16).toString('hex')}`,
      label: 'Living room tablet',
      proto: 'syncclipboard',
    },
  })
}

const SCALE = 4

/** What a camera sees: each character is two square modules, one above the other. */
function photograph(lines: readonly string[], columns: number) {
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
function readCells(line: string): readonly { upper: number; lower: number }[] {
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

describe('drawQr()', () => {
  it('draws what a camera reads back, whatever the length of the link', async () => {
    for (const length of [20, 60, 150, 350]) {
      const text = link(length)
      const { lines, columns } = await drawQr(text)
      assert.equal(decodeQR(photograph(lines, columns)), text)
    }
  })

  it('fits 80 columns with any usual link', async () => {
    const { lines, columns } = await drawQr(link('http://192.168.100.200:42720'.length))
    assert.ok(columns <= 80, `${columns} columns`)
    for (const line of lines) assert.equal(readCells(line).length, columns)
  })

  it('is black on white whatever the theme, with four modules of white around it', async () => {
    const { lines, columns } = await drawQr(link(30))
    const rows = lines.map(readCells)
    const isWhite = (cells: ReturnType<typeof readCells>) =>
      cells.every(({ upper, lower }) => upper === 255 && lower === 255)
    for (const row of [0, 1, -1, -2]) assert.ok(isWhite(rows.at(row) ?? []))
    for (const row of rows) {
      assert.ok(isWhite(row.slice(0, 4)))
      assert.ok(isWhite(row.slice(columns - 4)))
    }
    for (const line of lines) assert.match(line, /\u001b\[0m$/)
  })
})
