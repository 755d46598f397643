import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { openBytes, pixelsOf, sample } from './support.ts'

const FOLDER = new URL('../../../fixtures/images/', import.meta.url)
const SIZE = { width: 37, height: 29 }

const names = await readdir(FOLDER)
const references = names.filter((name) => name.endsWith('.rgba')).map((name) => name.slice(0, -5))

describe('a picture decoded from a file that ImageMagick wrote', () => {
  for (const name of names.filter((file) => /\.(png|bmp|tif)$/.test(file))) {
    it(`has the pixels that ImageMagick reads from it: ${name}`, async () => {
      const reference = references
        .filter((candidate) => name.startsWith(candidate))
        .reduce((best, candidate) => (candidate.length > best.length ? candidate : best), '')
      const wanted = multiplied(await sample(`${reference}.rgba`))
      const bytes = await sample(name)
      const { width, height } = (await openBytes(bytes)) ?? {}
      assert.deepEqual({ width, height }, SIZE)
      const pixels = await pixelsOf(bytes)
      assert.ok(pixels !== undefined, 'it is decoded')
      assert.equal(pixels.length, wanted.length)
      const furthest = pixels.reduce(
        (most, value, n) => Math.max(most, Math.abs(value - (wanted[n] ?? 0))),
        0,
      )
      assert.ok(furthest <= 1, `a sample is off by ${furthest}`)
    })
  }

  for (const name of names.filter((file) => /\.(jpg|gif|webp)$/.test(file))) {
    it(`has its size where pixels are not decoded: ${name}`, async () => {
      assert.deepEqual(await openBytes(await sample(name)), SIZE)
    })
  }
})

/** Colours multiplied by alpha. */
function multiplied(straight: Buffer): Buffer {
  const pixels = Buffer.from(straight)
  for (let n = 0; n < pixels.length; n += 1) {
    const alpha = straight[n - (n % 4) + 3] ?? 0
    if (n % 4 !== 3) pixels[n] = Math.round(((straight[n] ?? 0) * alpha) / 255)
  }
  return pixels
}
