/**
 * Tells whether two image files show the same, whatever format they are in.
 *
 * Pixels are compared while they are decoded, a part at a time, so that the pictures are never held
 * whole and the event loop is never held up.
 *
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import { ImageSource, type ImageBytes } from './image-source.ts'
import { openPicture } from './open-picture.ts'
import { PictureError, type Picture, type PictureSize } from './picture.ts'

/**
 * `same size`: the pixels of one of them cannot be decoded, and the pictures are equally large, or
 * one is a quarter turned: photos say which way is up, and not every program listens.
 */
export type Comparison = 'same' | 'different' | 'same size' | 'unknown'

/** Larger files are not looked at. */
const MAX_IMAGE_BYTES: number = 64 * 1024 * 1024

/**
 * How far a sample may be off. Programs that multiply by alpha, and back, round each time, and
 * 16 bits become 8 in more than one way. Nobody sees it.
 */
const TOLERANCE = 2

/** @throws What reading them throws; `signal.reason` when aborted. */
export async function compareImages(
  a: ImageBytes,
  b: ImageBytes,
  signal: AbortSignal,
): Promise<Comparison> {
  if (a.size > MAX_IMAGE_BYTES || b.size > MAX_IMAGE_BYTES) return 'unknown'
  const first = await ImageSource.open(a)
  try {
    const second = await ImageSource.open(b)
    try {
      return await compareSources(first, second, signal)
    } finally {
      await second.close()
    }
  } finally {
    await first.close()
  }
}

async function compareSources(
  a: ImageSource,
  b: ImageSource,
  signal: AbortSignal,
): Promise<Comparison> {
  const [first, second] = [await openPicture(a), await openPicture(b)]
  if (first === undefined || second === undefined) return 'unknown'
  if (first.pixels !== undefined && second.pixels !== undefined) {
    if (first.width !== second.width || first.height !== second.height) return 'different'
    try {
      return (await hasSamePixels(first, second, signal)) ? 'same' : 'different'
    } catch (error) {
      // Damaged: of no program that converts what it takes over.
      if (error instanceof PictureError) return 'unknown'
      throw error
    }
  }
  return isSameSize(first, second) ? 'same size' : 'different'
}

async function hasSamePixels(a: Picture, b: Picture, signal: AbortSignal): Promise<boolean> {
  const [first, second] = [a.pixels(), b.pixels()]
  try {
    let [left, right] = [new Uint8Array(), new Uint8Array()]
    for (let remaining = a.width * a.height * 4; remaining > 0; ) {
      if (left.length === 0) left = (await first.next()).value ?? left
      if (right.length === 0) right = (await second.next()).value ?? right
      const count = Math.min(left.length, right.length)
      if (count === 0 || !isClose(left.subarray(0, count), right.subarray(0, count))) return false
      left = left.subarray(count)
      right = right.subarray(count)
      remaining -= count
      await setImmediate(undefined, { signal })
    }
    return true
  } finally {
    await first.return(undefined)
    await second.return(undefined)
  }
}

function isClose(a: Uint8Array, b: Uint8Array): boolean {
  // Equal ones need no JavaScript.
  if (Buffer.compare(a, b) === 0) return true
  for (let n = 0; n < a.length; n += 1) {
    if (Math.abs((a[n] ?? 0) - (b[n] ?? 0)) > TOLERANCE) return false
  }
  return true
}

function isSameSize(a: PictureSize, b: PictureSize): boolean {
  const isEqual = a.width === b.width && a.height === b.height
  return isEqual || (a.width === b.height && a.height === b.width)
}
