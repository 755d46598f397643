/**
 * Reads a QR code off the screen, as a phone does.
 * @module
 */

import type { Locator } from 'playwright-core'
import { PNG } from 'pngjs'
import decodeQR from 'qr/decode.js'

/** More tries than a camera has between two frames: here there is one picture only. */
const EFFORT = { effort: 10, timeLimit: 60_000 }

/** The text of the code in a screenshot of `element`. */
export async function readQr(element: Locator): Promise<string> {
  const { width, height, data } = PNG.sync.read(await element.screenshot())
  return decodeQR({ width, height, data: new Uint8Array(data) }, { ...EFFORT, format: 'RGBA' })
}
