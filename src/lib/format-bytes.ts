/**
 * Writes sizes for people: in KiB, MiB and GiB everywhere, as options and limits are, although the
 * gallery of a phone, which counts in thousands, shows another number.
 * @module
 */

const SIZES = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/**
 * A number of bytes as people say it: `1.5 MiB`, `17 bytes`.
 *
 * @param bytesInWords Says less than a KiB in another language.
 */
export function formatBytes(
  bytes: number,
  bytesInWords: (bytes: number) => string = inEnglish,
): string {
  if (bytes < 1024) return bytesInWords(bytes)
  let value = bytes
  let unit = ''
  for (const name of SIZES) {
    // 1023.5 would be rounded to 1024.
    if (value < 1023.5) break
    value /= 1024
    unit = name
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${unit}`
}

function inEnglish(bytes: number): string {
  return `${bytes} byte${bytes === 1 ? '' : 's'}`
}
