import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { PNG } from 'pngjs'
import { canBePng, photoAsPng, pngFormats } from '../../src/desktop/photo-as-png.ts'
import type { PhotoTask } from '../../src/desktop/photo-task.ts'
import { readWhole } from '../../src/lib/read-bytes.ts'
import { blobOf } from '../support/memory-blob.ts'
import fc from '../support/property.ts'

const require = createRequire(import.meta.url)

/** The types of Node 20 do not know it. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { compile(bytes: Uint8Array): Promise<never> }
}

const LYING = read('photos/lying.jpg')
const SIZE = { width: 5, height: 3 }
/** In the header of the picture, two bytes each. */
const FRAME = Buffer.from([0xff, 0xc0])

function read(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/${name}`, import.meta.url))
}

const WORKER = new URL('../../src/desktop/photo-worker.js', import.meta.url)

/** A JPEG that announces more pixels than it has. */
function largeOf(side: number): Buffer {
  const large = Buffer.from(LYING)
  const frame = large.indexOf(FRAME)
  large.writeUInt16BE(side, frame + 5)
  large.writeUInt16BE(side, frame + 7)
  return large
}

async function convert(bytes: Uint8Array, mediaType: string): Promise<PNG> {
  const png = await photoAsPng(await blobOf(bytes), mediaType)
  return PNG.sync.read(Buffer.from(await readWhole(png)))
}

const pixel = ({ data, width }: PNG, x: number, y: number): readonly number[] => [
  ...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4),
]

/** Encodes pixels without a loss. */
async function makeWebp(data: Uint8ClampedArray): Promise<Buffer> {
  const { default: encode, init } = await import('@jsquash/webp/encode.js')
  const wasm = readFileSync(require.resolve('@jsquash/webp/codec/enc/webp_enc_simd.wasm'))
  await init(await WebAssembly.compile(wasm))
  const picture = { data, ...SIZE, colorSpace: 'srgb' }
  return Buffer.from(await encode(picture as never, { lossless: 1, exact: 1, quality: 100 }))
}

describe('a photo as PNG', () => {
  it('stands upright, and has the colours of the photo', async () => {
    const png = await convert(LYING, 'image/jpeg')
    assert.deepEqual([png.width, png.height], [8, 16])
    const [top, bottom] = [pixel(png, 4, 2), pixel(png, 4, 13)]
    assert.ok((top[0] ?? 0) > 200 && (top[2] ?? 255) < 60, `red at the top: ${top}`)
    assert.ok((bottom[2] ?? 0) > 200 && (bottom[0] ?? 255) < 60, `blue below: ${bottom}`)
  })

  it('is turned by each number of EXIF as browsers turn it', async () => {
    // Where its upper left corner goes, of a picture that is red on the left and blue on the right.
    const redAt = {
      1: 'left',
      2: 'right',
      3: 'right',
      4: 'left',
      5: 'top',
      6: 'top',
      7: 'bottom',
      8: 'bottom',
    }
    const at = LYING.indexOf(Buffer.from('0112', 'hex'))
    const swapped = at === -1 ? LYING.indexOf(Buffer.from('1201', 'hex')) : at
    for (const [number, side] of Object.entries(redAt)) {
      const turned = Buffer.from(LYING)
      turned[swapped + 8 + (at === -1 ? 0 : 1)] = Number(number)
      const png = await convert(turned, 'image/jpeg')
      const { width, height } = png
      const [x, y] = [width >> 1, height >> 1]
      const sides = {
        left: pixel(png, 1, y),
        right: pixel(png, width - 2, y),
        top: pixel(png, x, 1),
        bottom: pixel(png, x, height - 2),
      }
      const [red = 0, , blue = 0] = sides[side as keyof typeof sides]
      assert.ok(red > 200 && blue < 60, `${number}: red at the ${side}`)
    }
  })

  it('keeps what can be seen through, pixel for pixel', async () => {
    const pixels = fc.uint8ClampedArray({ minLength: 60, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(pixels, fc.boolean(), async (data, isOpaque) => {
        if (isOpaque) for (let at = 3; at < data.length; at += 4) data[at] = 255
        const png = await convert(await makeWebp(data), 'image/webp; charset=binary')
        assert.deepEqual([png.width, png.height], [SIZE.width, SIZE.height])
        assert.deepEqual([...png.data], [...data])
      }),
      { numRuns: 5 },
    )
  })

  it('is that of pictures which other programs made', async () => {
    const wanted = PNG.sync.read(read('images/rgb.png'))
    for (const [name, type] of [
      ['rgb.jpg', 'image/jpeg'],
      ['rgb-progressive.jpg', 'image/jpeg'],
      ['rgb.webp', 'image/webp'],
    ] as const) {
      const png = await convert(read(`images/${name}`), type)
      assert.deepEqual([png.width, png.height], [wanted.width, wanted.height], name)
    }
  })

  it('is refused of what is damaged, and of what is too large, before it is decoded', async () => {
    await assert.rejects(convert(largeOf(50_000), 'image/jpeg'), /of this size/)
    await assert.rejects(convert(Buffer.from('not a photo'), 'image/jpeg'), /of this size/)
    await assert.rejects(convert(LYING, 'image/webp'))
    await assert.rejects(convert(LYING, 'image/heic'), /no decoder/)
    assert.equal(canBePng('image/heic'), false)
  })

  it('is refused of a JPEG in which another size may be read than is decoded', async () => {
    const large = largeOf(20_000)
    // Where the marker in front is taken for a segment, this is what follows it.
    const end = 2 + 2 + large.readUInt16BE(2)
    const small = Buffer.from('ffc0000b08000a000a01011100', 'hex')
    const bytes = Buffer.alloc(end + small.length)
    Buffer.concat([large.subarray(0, 2), Buffer.from([0xff, 0x01]), large.subarray(2)]).copy(bytes)
    small.copy(bytes, end)
    await assert.rejects(convert(bytes, 'image/jpeg'), /of this size/)
  })

  it('costs no more memory than it admits, whatever its decoder reads', async () => {
    const script = require.resolve('@jsquash/jpeg/decode.js')
    const wasm = require.resolve('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm')
    const run = async (task: Pick<PhotoTask, 'pixels' | 'maxBytes'>) => {
      const workerData: PhotoTask = { photo: largeOf(4000), script, wasm, ...task }
      const options = { workerData, stdout: true, stderr: true }
      const worker = new Worker(WORKER, options)
      const messages: unknown[] = []
      worker.on('message', (message) => messages.push(message))
      await once(worker, 'exit')
      return messages.length
    }
    const pixels = 4000 * 4000
    assert.equal(await run({ pixels, maxBytes: 16 * pixels }), 1)
    // All but the picture itself.
    await assert.rejects(run({ pixels, maxBytes: 3 * pixels }))
    await assert.rejects(run({ pixels: 100, maxBytes: 16 * pixels }), /of another size/)
  })

  it('fails and does no harm, whatever the bytes are', async () => {
    const change = fc.tuple(fc.nat(LYING.length - 1), fc.nat(255))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const damaged = Buffer.from(LYING)
        for (const [at, value] of changes) damaged[at] = value
        const png = await convert(damaged, 'image/jpeg').catch(() => undefined)
        assert.ok(png === undefined || png.width * png.height > 0)
      }),
      { numRuns: 20 },
    )
  })

  it('is made once, when a program asks for it', async () => {
    let opened = 0
    const blob = await blobOf(LYING)
    const open = blob.open.bind(blob)
    const counted = Object.assign(Object.create(blob) as typeof blob, {
      open: () => {
        opened += 1
        return open()
      },
    })
    const content = { kind: 'image', mediaType: 'image/jpeg', blob: counted } as const
    const [format, ...others] = pngFormats(content)
    assert.deepEqual([format?.target, others.length, opened], ['image/png', 0, 0])
    const [one, two] = await Promise.all([format?.bytes(), format?.bytes()])
    assert.equal(one, two)
    // Its size, and then its bytes.
    assert.equal(opened, 2)
    assert.deepEqual(pngFormats({ ...content, mediaType: 'image/png' }), [])
  })
})
