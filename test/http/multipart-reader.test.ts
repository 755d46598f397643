import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { HttpError, type HttpErrorCode } from '../../src/http/http-error.ts'
import {
  readTextOf,
  readMultipart,
  type MultipartLimits,
  type Part,
} from '../../src/http/multipart.ts'
import type { FieldText } from '../../src/http/urlencoded.ts'
import { brokenStream, streamOf } from '../support/byte-streams.ts'
import { BOUNDARY, cut, form } from './support/parse-form.ts'

const TYPE = `multipart/form-data; boundary=${BOUNDARY}`

const LIMITS: MultipartLimits = {
  maxFileBytes: 100,
  maxFieldBytes: 10,
  maxFieldsBytes: 25,
  isFile: ({ fileName }) => fileName !== undefined,
}

/** Three parts, in chunks of a few bytes. */
const THREE = form(
  ['name="a"', 'first'],
  ['name="data"; filename="f.bin"', 'x'.repeat(50)],
  ['name="b"', 'last'],
)

function inPieces(body: string, length = 7) {
  return streamOf(...cut(Buffer.from(body), [length]))
}

async function text(part: Part): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of part.bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function readAll(
  source: AsyncIterable<Uint8Array>,
  limits: Partial<MultipartLimits> = {},
): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const part of readMultipart(source, TYPE, { ...LIMITS, ...limits })) {
    texts.push(await text(part))
  }
  return texts
}

async function skipAll(
  source: AsyncIterable<Uint8Array>,
  limits: Partial<MultipartLimits> = {},
): Promise<number> {
  let parts = 0
  for await (const _ of readMultipart(source, TYPE, { ...LIMITS, ...limits })) parts++
  return parts
}

/** Whether or not anybody reads the parts. */
async function refuses(
  code: HttpErrorCode,
  body: string,
  limits: Partial<MultipartLimits> = {},
): Promise<void> {
  for (const read of [readAll, skipAll]) {
    const source = inPieces(body)
    const { status } = new HttpError(code)
    await assert.rejects(read(source, limits), { name: 'HttpError', code, status })
    assert.ok(source.isClosed, 'the source is still open')
  }
}

describe('the parts of a form', () => {
  it('come one after the other, each with its name, type and bytes', async () => {
    const parts: unknown[] = []
    for await (const part of readMultipart(inPieces(THREE), TYPE, LIMITS)) {
      const { name, fileName, contentType } = part
      parts.push([name, fileName, contentType, await text(part)])
    }
    assert.deepEqual(parts, [
      ['a', undefined, undefined, 'first'],
      ['data', 'f.bin', undefined, 'x'.repeat(50)],
      ['b', undefined, undefined, 'last'],
    ])
  })

  it('are passed over as far as nobody reads them', async () => {
    const seen: string[] = []
    for await (const part of readMultipart(inPieces(THREE), TYPE, LIMITS)) {
      if (part.name !== 'data') continue
      for await (const chunk of part.bytes) {
        seen.push(Buffer.from(chunk).toString())
        break
      }
    }
    assert.equal(seen.length, 1)
    assert.equal(await skipAll(inPieces(THREE)), 3)
  })

  it('are read at the pace of the reader', async () => {
    const source = inPieces(THREE, 1)
    const parts = readMultipart(source, TYPE, LIMITS)[Symbol.asyncIterator]()
    assert.equal(source.taken, 0)
    const { value } = await parts.next()
    const header = THREE.indexOf('first')
    assert.equal(source.taken, header)
    const bytes = value.bytes[Symbol.asyncIterator]()
    assert.equal(source.taken, header)
    await bytes.next()
    assert.equal(source.taken, header + 1)
  })

  it('are read to the end of the body, also behind the last part', async () => {
    const source = inPieces(`${THREE}A note.`)
    assert.equal(await skipAll(source), 3)
    assert.ok(source.isClosed, 'the source is still open')
  })

  it('cannot be read once the next one was asked for: it would seem to end there', async () => {
    const parts = readMultipart(inPieces(THREE), TYPE, LIMITS)[Symbol.asyncIterator]()
    const { value } = await parts.next()
    await parts.next()
    await assert.rejects(text(value), /Cannot read a part/)
  })

  it('cannot be read after the reader has left, who closes the source', async () => {
    const source = inPieces(THREE)
    let left: Part | undefined
    for await (const part of readMultipart(source, TYPE, LIMITS)) {
      left = part
      break
    }
    assert.ok(source.isClosed, 'the source is still open')
    assert.ok(left !== undefined, 'no part came')
    await assert.rejects(text(left), /Cannot read a part/)
  })

  it('end with the error of their source', async () => {
    const error = new Error('the client left')
    const half = THREE.slice(0, THREE.indexOf('xx'))
    await assert.rejects(readAll(brokenStream(error, half)), error)
    await assert.rejects(skipAll(brokenStream(error, half)), error)
    await assert.rejects(readAll(brokenStream(error)), error)
  })

  it('end with an error when the body ends inside of them', async () => {
    for (const length of [0, 5, 60, THREE.length - 60, THREE.length - 4]) {
      await refuses('MULTIPART_TRUNCATED', THREE.slice(0, length))
    }
  })
})

describe('a form is refused', () => {
  it('at once without a boundary', () => {
    const source = inPieces(THREE)
    assert.throws(() => readMultipart(source, 'multipart/form-data', LIMITS), {
      code: 'MULTIPART_BOUNDARY',
      status: 400,
    })
    assert.equal(source.taken, 0)
  })

  it('when a file is larger than allowed', async () => {
    const file = (size: number) => form(['name="a"; filename="f"', 'x'.repeat(size)])
    assert.deepEqual(await readAll(inPieces(file(100))), ['x'.repeat(100)])
    await refuses('FILE_TOO_LARGE', file(101))
  })

  it('when a field is larger than allowed', async () => {
    const field = (size: number) => form(['name="a"', 'x'.repeat(size)])
    assert.deepEqual(await readAll(inPieces(field(10))), ['x'.repeat(10)])
    await refuses('FIELD_TOO_LARGE', field(11))
  })

  it('when its fields together are larger than allowed, whatever stands between them', async () => {
    const fields = (last: number) =>
      form(
        ['name="a"', 'x'.repeat(10)],
        ['name="data"; filename="f"', 'x'.repeat(90)],
        ['name="b"', 'x'.repeat(10)],
        ['name="c"', 'x'.repeat(last)],
      )
    assert.equal((await readAll(inPieces(fields(5)))).length, 4)
    await refuses('FIELDS_TOO_LARGE', fields(6))
  })

  it('by the limits of files or of fields, as the caller tells them apart', async () => {
    const body = form(['name="data"', 'x'.repeat(50)])
    await refuses('FIELD_TOO_LARGE', body)
    const isFile = ({ name }: { readonly name: string }) => name === 'data'
    assert.deepEqual(await readAll(inPieces(body), { isFile }), ['x'.repeat(50)])
    await refuses('FILE_TOO_LARGE', form(['name="data"', 'x'.repeat(101)]), { isFile })
    await refuses('FIELD_TOO_LARGE', form(['name="a"; filename="f"', 'x'.repeat(11)]), { isFile })
  })

  it('when it has more parts, longer headers or more around it than forms have', async () => {
    const parts = (count: number) => form(...Array(count).fill(['name="a"', '']))
    assert.equal(await skipAll(streamOf(parts(64))), 64)
    await refuses('TOO_MANY_PARTS', parts(65))
    const header = (size: number) => form([`name="${'a'.repeat(size)}"`, ''])
    assert.equal(await skipAll(streamOf(header(16_000))), 1)
    await refuses('PART_HEADER_TOO_LARGE', header(16 * 1024))
    const note = 'x'.repeat(64 * 1024)
    assert.equal(await skipAll(streamOf(`${note}\r\n${form()}${note}`)), 0)
    await refuses('PADDING_TOO_LARGE', `${note}x\r\n${form()}`)
    await refuses('PADDING_TOO_LARGE', `${form()}${note}x`)
  })

  it('as soon as it passes a limit, however much is still to come', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`)
      for (;;) yield Buffer.from('x')
    }
    await assert.rejects(skipAll(endless()), { code: 'FIELD_TOO_LARGE' })
    await assert.rejects(readAll(endless()), { code: 'FIELD_TOO_LARGE' })
  })
})

describe('a field', () => {
  async function readFirst(body: string | Uint8Array, maxBytes = 10): Promise<FieldText> {
    const limits = { ...LIMITS, maxFieldBytes: 2 * MIB, maxFieldsBytes: 2 * MIB }
    const source = streamOf(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`,
      body,
      `\r\n--${BOUNDARY}--\r\n`,
    )
    for await (const part of readMultipart(source, TYPE, limits)) {
      return await readTextOf(part, maxBytes)
    }
    throw new Error('No part came')
  }

  it('is text in UTF-8, every character of it', async () => {
    assert.equal(await readFirst(''), '')
    assert.equal(await readFirst('\ufeff\0\r\n€'), '\ufeff\0\r\n€')
  })

  it('may be cut anywhere', async () => {
    const body = form(['name="a"', '€ü'])
    for await (const part of readMultipart(inPieces(body, 1), TYPE, LIMITS)) {
      assert.equal(await readTextOf(part, 10), '€ü')
    }
  })

  it('is refused when it is longer than its reader allows', async () => {
    assert.equal(await readFirst('x'.repeat(10)), 'x'.repeat(10))
    await assert.rejects(readFirst('x'.repeat(11)), { code: 'FIELD_TOO_LARGE', status: 413 })
  })

  it('is refused when it is not UTF-8', async () => {
    const refusal = { code: 'BAD_BODY', status: 400 }
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      await assert.rejects(readFirst(Uint8Array.from(bytes)), refusal)
    }
  })

  it('of more than a megabyte is the bytes that it came in, if they are UTF-8', async () => {
    assert.equal(await readFirst('x'.repeat(MIB), MIB), 'x'.repeat(MIB))
    const text = '\ufeff\0é'.repeat(MIB / 5)
    assert.ok(Buffer.from(text).equals(Object(await readFirst(text, 2 * MIB))))
    await assert.rejects(readFirst(Buffer.alloc(MIB + 1, 0xff), 2 * MIB), { code: 'BAD_BODY' })
  })
})
