/**
 * The filters of PNG (third edition, 9): each row is stored as its difference to its neighbours.
 *
 * @module
 */

import { PictureError } from './picture.ts'

/**
 * Restores a row in place. The first byte of both rows is the number of a filter.
 *
 * @param distance How many bytes back the same sample of the pixel to the left is.
 */
export function unfilter(row: Uint8Array, previous: Uint8Array, distance: number): void {
  const { length } = row
  const first = Math.min(length, distance + 1)
  switch (row[0]) {
    case 0:
      return
    case 1:
      for (let n = first; n < length; n += 1) row[n] = at(row, n) + at(row, n - distance)
      return
    case 2:
      for (let n = 1; n < length; n += 1) row[n] = at(row, n) + at(previous, n)
      return
    case 3:
      for (let n = 1; n < first; n += 1) row[n] = at(row, n) + (at(previous, n) >> 1)
      for (let n = first; n < length; n += 1) {
        row[n] = at(row, n) + ((at(row, n - distance) + at(previous, n)) >> 1)
      }
      return
    case 4:
      for (let n = 1; n < first; n += 1) row[n] = at(row, n) + at(previous, n)
      for (let n = first; n < length; n += 1) {
        const [left, up] = [at(row, n - distance), at(previous, n)]
        row[n] = at(row, n) + paeth(left, up, at(previous, n - distance))
      }
      return
    default:
      throw new PictureError('MALFORMED', 'there is no such filter')
  }
}

function paeth(left: number, up: number, corner: number): number {
  const toLeft = Math.abs(up - corner)
  const toUp = Math.abs(left - corner)
  const toCorner = Math.abs(left + up - 2 * corner)
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0
}
