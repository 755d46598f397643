/**
 * A QR code as the panel draws it.
 *
 * @module
 */

/** The least that the package draws. */
const BORDER = 1

/** The modules of the code of `text`, without quiet zone: a row is a string of `0` and `1` (dark). */
export async function qrRows(text: string): Promise<readonly string[]> {
  // Few daemons are asked for one; the others should not wait for this package.
  const { encodeQR } = await import('qr')
  // As the terminal shows it: screens need little error correction, and cameras large modules.
  const modules = encodeQR(text, 'raw', { ecc: 'low', border: BORDER })
  return modules.slice(BORDER, -BORDER).map((row) =>
    row
      .slice(BORDER, -BORDER)
      .map((dark) => (dark ? '1' : '0'))
      .join(''),
  )
}
