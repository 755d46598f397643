import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseBoundary } from '../../src/http/field-values.ts'
import fc, { forAll } from '../support/property.ts'
import { parseForm } from './support/parse-form.ts'
import { delimiterOf, nearDelimiters, wildForms } from './support/wild-form.ts'

const cuttings = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 20 })

const boundaries = fc.constantFrom('a', '-', 'aa', '-a-', 'ab-ab', 'a'.repeat(70), '----x7MA4YWxk')

describe('any form', () => {
  // Protocol: Multipart forms are read as RFC 7578 has them
  it('is read as it was written, however a client spells it', () =>
    forAll(wildForms, ({ contentType, boundary, text, parts }) => {
      assert.equal(parseBoundary(contentType), boundary)
      assert.deepEqual(parseForm(Buffer.from(text, 'latin1'), { boundary }), {
        parts: parts.map((part) => ({ ...part, isWhole: true })),
        error: undefined,
      })
    }))

  it('is the same for any cutting', () =>
    forAll(wildForms, cuttings, ({ boundary, text }, cuts) => {
      const bytes = Buffer.from(text, 'latin1')
      assert.deepEqual(parseForm(bytes, { boundary, cuts }), parseForm(bytes, { boundary }))
    }))

  it('is refused for the same reason, after the same parts, for any cutting', () => {
    const limits = { maxParts: 3, maxHeaderBytes: 120, maxPaddingBytes: 20 }
    const damages = fc.array(fc.tuple(fc.nat(), fc.constantFrom('', '\n', '\r\n', '\0', ':', '-')))
    forAll(wildForms, damages, cuttings, ({ boundary, text }, places, cuts) => {
      const damaged = places.reduce((sound, [place, inserted]) => {
        const at = place % (sound.length + 1)
        return sound.slice(0, at) + inserted + sound.slice(at + 1)
      }, text)
      const bytes = Buffer.from(damaged, 'latin1')
      const whole = parseForm(bytes, { boundary, limits })
      assert.deepEqual(parseForm(bytes, { boundary, limits, cuts }), whole)
    })
  })

  it('is refused by an HttpError or read, when it is garbage', () => {
    const garbage = boundaries.chain((boundary) =>
      fc.record({
        boundary: fc.constant(boundary),
        pieces: fc.array(nearDelimiters(boundary)),
        cuts: cuttings,
      }),
    )
    forAll(garbage, ({ boundary, pieces, cuts }) => {
      const bytes = Buffer.from(pieces.join(''), 'latin1')
      assert.deepEqual(parseForm(bytes, { boundary, cuts }), parseForm(bytes, { boundary }))
    })
  })

  it('ends its parts where the plainest search finds a delimiter', () => {
    const soups = boundaries.chain((boundary) =>
      fc.record({
        boundary: fc.constant(boundary),
        pieces: fc.array(nearDelimiters(boundary), { maxLength: 40 }),
        cuts: cuttings,
      }),
    )
    forAll(soups, ({ boundary, pieces, cuts }) => {
      const soup = pieces.join('')
      const end = delimiterOf(boundary).exec(`\r\n${soup}`)
      const expected = end === null ? undefined : soup.slice(0, Math.max(end.index - 2, 0))
      const bytes = Buffer.from(`--${boundary}\r\n\r\n${soup}`, 'latin1')
      const [part] = parseForm(bytes, { boundary, cuts }).parts
      assert.equal(part?.isWhole, expected !== undefined)
      if (expected !== undefined) assert.equal(part?.body, expected)
    })
  })
})

describe('the work for a form', () => {
  /** Most times that a byte is looked at, and what a chunk may cost by itself. */
  const READS_PER_BYTE = 4
  const READS_PER_CHUNK = 80

  /** How many bytes the parser looks at, one by one, until it has read the body. */
  function countReads(body: Buffer, boundary: string, cuts: readonly number[]) {
    let reads = 0
    let chunks = 0
    const watch = (chunk: Buffer): Buffer => {
      chunks++
      return new Proxy(chunk, {
        get(target, key) {
          if (typeof key === 'string' && !Number.isNaN(Number(key))) reads++
          const value: unknown = Reflect.get(target, key, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    }
    const { error } = parseForm(body, { boundary, cuts, watch })
    return { reads, chunks, error }
  }

  const SIZE = 4000

  for (const boundary of ['a', 'aaaa', '-'.repeat(70), 'ab'.repeat(35), '----x7MA4']) {
    const delimiter = `\r\n--${boundary}`
    const hostile: Readonly<Record<string, string>> = {
      CRs: '\r',
      LFs: '\n',
      'line ends': '\r\n',
      'lines of dashes': '\r\n-',
      'lines of two dashes': '\r\n--',
      dashes: '-',
      'its last byte': boundary.slice(-1),
      boundaries: boundary,
      'boundaries on lines': `\n--${boundary}`,
      'delimiters without their last byte': delimiter.slice(0, -1),
      'delimiters without their first byte': delimiter.slice(1),
      'delimiters with another first byte': `x${delimiter.slice(1)}`,
      'delimiters with another byte in between': `${delimiter.slice(0, 4)}x${delimiter.slice(4)}`,
      'delimiters with something behind': `${delimiter}x`,
      'delimiters with a CR behind': `${delimiter}\r`,
      'delimiters with the most blanks and something behind': `${delimiter}${' '.repeat(256)}x`,
      'delimiters with too many blanks': `${delimiter}${' '.repeat(300)}`,
      'closing delimiters with something behind': `${delimiter}--x`,
    }

    it(`grows with its size only: boundary ${boundary.slice(0, 10)} of ${boundary.length}`, () => {
      for (const [what, unit] of Object.entries(hostile)) {
        const start = `--${boundary}\r\n\r\n`
        const body = Buffer.from(start + unit.repeat(Math.ceil(SIZE / unit.length)), 'latin1')
        for (const cuts of [[body.length], [1], [7], [1000]]) {
          const { reads, chunks, error } = countReads(body, boundary, cuts)
          assert.equal(error, 'MULTIPART_TRUNCATED', what)
          const allowed = READS_PER_BYTE * body.length + READS_PER_CHUNK * chunks
          assert.ok(reads <= allowed, `${what}, cut into ${cuts}: ${reads} reads of ${allowed}`)
        }
      }
    })
  }

  it('is a fraction of its size for an ordinary file', () => {
    const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
    const body = Buffer.concat([
      Buffer.from(`--${boundary}\r\n\r\n`),
      Buffer.from(Array.from({ length: SIZE }, (_, index) => (index * 7919) % 251)),
    ])
    const { reads } = countReads(body, boundary, [SIZE])
    assert.ok(reads < SIZE / 10, `${reads} reads of ${SIZE} bytes`)
  })

  it('is bounded for headers that never end', () => {
    for (const unit of ['\r', '\n', 'X: y\r\n', '\r\n ', 'x']) {
      const body = Buffer.from(`--a\r\nX: ${unit.repeat(5 * SIZE)}`)
      for (const cuts of [[body.length], [1], [4096]]) {
        const { reads, error } = countReads(body, 'a', cuts)
        assert.equal(error, 'PART_HEADER_TOO_LARGE')
        assert.ok(reads <= 3 * body.length, `${reads} reads of ${body.length} bytes`)
      }
    }
  })
})
