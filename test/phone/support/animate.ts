/**
 * Makes a moving picture: an APNG, which is a PNG with more frames (PNG, third edition, W3C).
 * @module
 */

import { crc32 } from 'node:zlib'
import { PNG } from 'pngjs'
import { writePng } from '../../../src/lib/write-png.js'

/** A picture, and for how long it is shown, in milliseconds. */
export interface Frame {
  readonly png: Uint8Array
  readonly ms: number
}

/** A rectangle, in pixels. */
interface Part {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const SIGNATURE_BYTES = 8

/** Between two frames only the part that changes is written. It plays for ever. */
export async function animate(frames: readonly Frame[]): Promise<Buffer> {
  const pictures = frames.map(({ png }) => PNG.sync.read(Buffer.from(png)))
  const [first] = pictures
  if (first === undefined) throw new Error('There is no frame')
  const still = Buffer.from(await writePng(copyOf(first, wholeOf(first)), 9))
  const header = still.subarray(0, SIGNATURE_BYTES + 25)
  const pieces: Buffer[] = [header, chunk('acTL', numbers(frames.length, 0))]
  let sequence = 0
  for (const [index, picture] of pictures.entries()) {
    const before = pictures[index - 1]
    const part = before === undefined ? wholeOf(picture) : changeOf(before, picture)
    const { width, height, x, y } = part
    const control = numbers(sequence++, width, height, x, y)
    // The time as a fraction; the frame stays, and replaces what it covers.
    const time = Buffer.from([0, 0, 1000 >> 8, 1000 & 0xff, 0, 0])
    time.writeUInt16BE(frames[index]?.ms ?? 0)
    pieces.push(chunk('fcTL', Buffer.concat([control, time])))
    const data = contentsOf(await writePng(copyOf(picture, part), 9))
    pieces.push(
      before === undefined
        ? chunk('IDAT', data)
        : chunk('fdAT', Buffer.concat([numbers(sequence++), data])),
    )
  }
  return Buffer.concat([...pieces, chunk('IEND', Buffer.alloc(0))])
}

const wholeOf = ({ width, height }: PNG): Part => ({ x: 0, y: 0, width, height })

/** What has changed; a pixel where nothing has, since a frame has at least one. */
function changeOf(before: PNG, { data, width }: PNG): Part {
  const columns: number[] = []
  const rows: number[] = []
  for (let at = 0; at < data.length; at += 4) {
    if (data.readUInt32BE(at) === before.data.readUInt32BE(at)) continue
    columns.push((at / 4) % width)
    rows.push(Math.floor(at / 4 / width))
  }
  const [x, y] = [least(columns), least(rows)]
  return { x, y, width: most(columns) - x + 1, height: most(rows) - y + 1 }
}

const least = (values: readonly number[]): number =>
  values.reduce((low, value) => Math.min(low, value), values[0] ?? 0)

const most = (values: readonly number[]): number =>
  values.reduce((high, value) => Math.max(high, value), 0)

function copyOf(picture: PNG, { x, y, width, height }: Part) {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let row = 0; row < height; row += 1) {
    const from = ((y + row) * picture.width + x) * 4
    data.set(picture.data.subarray(from, from + width * 4), row * width * 4)
  }
  return { data, width, height }
}

/** The pixels of a PNG, packed as they are there. */
function contentsOf(bytes: Uint8Array): Buffer {
  const png = Buffer.from(bytes)
  const parts: Buffer[] = []
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + length))
    }
    at += length + 12
  }
  return Buffer.concat(parts)
}

/** Four bytes each. */
function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index)
  return bytes
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content])
  return Buffer.concat([numbers(content.length), named, numbers(crc32(named))])
}
