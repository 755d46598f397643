/**
 * Draws a QR code in a terminal, two modules in each character.
 *
 * The colours are explicit, black on white whatever the theme: many scanners refuse an inverted
 * code. Cells of one colour are blanks on a background, as the block characters of some fonts
 * leave gaps between lines.
 * @module
 */

/** ISO/IEC 18004: four modules of light around the code. */
const QUIET_ZONE = 4

// From the colour cube, which themes leave alone; the first sixteen colours they redefine.
const BLACK = 16
const WHITE = 231

const RESET = '\u001b[0m'

/** Cameras read a code on a screen with half of that too. */
const NARROW_ZONE = 2

interface DrawnQr {
  readonly lines: readonly string[]
  /** The width of the code, in cells of a terminal. */
  readonly columns: number
}

/** The cells of a window that a code may take. */
export interface Room {
  readonly columns: number
  readonly rows: number
}

/**
 * Draws the first of `texts` whose code has room, with less white around it if need be.
 *
 * @returns `undefined` when there is room for none.
 */
export async function drawFittingQr(
  texts: readonly string[],
  { columns, rows }: Room,
): Promise<DrawnQr | undefined> {
  for (const text of texts) {
    for (const border of [QUIET_ZONE, NARROW_ZONE]) {
      const drawn = await drawQr(text, border)
      if (drawn.columns <= columns && drawn.lines.length <= rows) return drawn
    }
  }
  return undefined
}

/** Draws `text` as a QR code of the lowest density; screens need little error correction. */
export async function drawQr(text: string, border: number = QUIET_ZONE): Promise<DrawnQr> {
  // Few commands draw; the others should not wait for this package.
  const { encodeQR } = await import('qr')
  const modules = encodeQR(text, 'raw', { ecc: 'low', border })
  const lines: string[] = []
  for (let row = 0; row < modules.length; row += 2) {
    lines.push(drawLine(modules[row] ?? [], modules[row + 1] ?? []))
  }
  return { lines, columns: modules.length }
}

/** Draws two rows as one line. An odd last row stands above more quiet zone. */
function drawLine(upper: readonly boolean[], lower: readonly boolean[]): string {
  let line = ''
  let colours = ''
  for (const [index, dark] of upper.entries()) {
    const top = dark ? BLACK : WHITE
    const bottom = lower[index] === true ? BLACK : WHITE
    const wanted = `\u001b[38;5;${top};48;5;${bottom}m`
    if (wanted !== colours) line += wanted
    colours = wanted
    line += top === bottom ? ' ' : '▀'
  }
  return `${line}${RESET}`
}
