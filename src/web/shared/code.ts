/** Texts as QR codes. Loaded when somebody wants to see one: few do. @module */

import encodeQR from 'qr'

/** The narrowest quiet zone that the package draws, in modules; {@link drawCode} has its own. */
const BORDER = 1

/** The modules of the code of a text: rows of `0` (light) and `1` (dark). */
export function codeOf(text: string): readonly string[] {
  // Screens need little error correction, and cameras large modules.
  const modules = encodeQR(text, 'raw', { ecc: 'low', border: BORDER }).slice(BORDER, -BORDER)
  return modules.map((row) => Array.from(row.slice(BORDER, -BORDER), Number).join(''))
}
