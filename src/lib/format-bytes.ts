/** Writes sizes for people. @module */

const SIZES = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** A number of bytes as people say it: `1.5 MiB`, `17 bytes`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} byte${bytes === 1 ? '' : 's'}`
  let value = bytes
  let unit = ''
  for (const name of SIZES) {
    if (value < 1024) break
    value /= 1024
    unit = name
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`
}
