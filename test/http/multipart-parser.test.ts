import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpErrorCode } from '../../src/http/http-error.ts'
import { freeBytes, handOver } from '../../src/lib/read-bytes.ts'
import { MultipartParser } from '../../src/http/multipart-parser.ts'
import {
  BOUNDARY,
  form,
  formWithHeader,
  LIMITS,
  parseForm,
  type ParseFormOptions,
  type ParsedForm,
} from './support/parse-form.ts'

const FIELD = 'Content-Disposition: form-data; name="a"'

/** Parses it whole, in bytes, and in pairs of bytes; all must agree. */
function parse(body: string, options: ParseFormOptions = {}): ParsedForm {
  const whole = parseForm(body, options)
  for (const cuts of [[1], [2], [1, 2]]) {
    assert.deepEqual(parseForm(body, { ...options, cuts }), whole, `cut into ${cuts}`)
  }
  return whole
}

/** What the parts of a sound form hold. */
function bodies(body: string, options: ParseFormOptions = {}): readonly string[] {
  const { parts, error } = parse(body, options)
  assert.equal(error, undefined)
  assert.deepEqual(
    parts.filter(({ isWhole }) => !isWhole),
    [],
  )
  return parts.map((part) => part.body)
}

function refuses(code: HttpErrorCode, body: string, options: ParseFormOptions = {}): void {
  assert.equal(parse(body, options).error, code)
}

describe('a form', () => {
  it('has parts, each with a header and a body', () => {
    assert.deepEqual(parse(form(['name="a"', 'one'], ['name="b"; filename="c"', 'two'])), {
      parts: [
        { name: 'a', fileName: undefined, contentType: undefined, body: 'one', isWhole: true },
        { name: 'b', fileName: 'c', contentType: undefined, body: 'two', isWhole: true },
      ],
      error: undefined,
    })
  })

  it('may have no parts', () => {
    assert.deepEqual(bodies(`--${BOUNDARY}--\r\n`), [])
    assert.deepEqual(bodies(`--${BOUNDARY}--`), [])
    assert.deepEqual(bodies(`\r\n--${BOUNDARY}--`), [])
  })

  it('may have empty parts, also ones without the line that ends their header', () => {
    assert.deepEqual(bodies(form(['name="a"', ''], ['name="b"', ''])), ['', ''])
    const short = `--${BOUNDARY}\r\n${FIELD}\r\n\r\n--${BOUNDARY}\r\n\r\n--${BOUNDARY}--`
    assert.deepEqual(bodies(short), ['', ''])
  })

  it('may have line ends of all kinds in its parts', () => {
    const body = '\r\n\n\r\r\r\n\r\n-\r\n--\r\n\r'
    assert.deepEqual(bodies(form(['name="a"', body], ['name="b"', body])), [body, body])
  })

  it('may have something before the first and after the last delimiter', () => {
    const body = form(['name="a"', 'one'])
    assert.deepEqual(bodies(`\r\n${body}`), ['one'])
    assert.deepEqual(bodies(`A note.\r\n--\r\n${body}Another.\r\n${body}`), ['one'])
    assert.deepEqual(bodies(`${form(['name="a"', 'one']).trimEnd()} \t\r\n\r\n`), ['one'])
    assert.deepEqual(bodies(`${form(['name="a"', 'one']).trimEnd()}\n`), ['one'])
  })

  it('may have blanks and tabs behind a delimiter', () => {
    const padded = form(['name="a"', 'one'], ['name="b"', 'two']).replaceAll(
      `--${BOUNDARY}\r\n`,
      `--${BOUNDARY} \t \r\n`,
    )
    assert.deepEqual(bodies(padded), ['one', 'two'])
    const most = form(['name="a"', 'one'], ['name="b"', 'two']).replaceAll(
      `--${BOUNDARY}\r\n`,
      `--${BOUNDARY}${' '.repeat(256)}\r\n`,
    )
    assert.deepEqual(bodies(most), ['one', 'two'])
  })

  it('may have lines in its parts that only look like delimiters', () => {
    const lookAlikes = [
      `\r\n--${BOUNDARY}x`,
      `\r\n--${BOUNDARY}-`,
      `\r\n--${BOUNDARY}-x\r\n`,
      `\r\n--${BOUNDARY}--x`,
      `\r\n--${BOUNDARY} x\r\n`,
      `\r\n--${BOUNDARY}\rx`,
      `\r\n--${BOUNDARY}\r`,
      `\r\n--${BOUNDARY}\n`,
      `\n--${BOUNDARY}\r\n`,
      `\r--${BOUNDARY}\r\n`,
      `x--${BOUNDARY}\r\n`,
      `\r\n-${BOUNDARY}\r\n`,
      `\r\n--${BOUNDARY.toLowerCase()}\r\n`,
      `\r\n--${BOUNDARY.slice(0, -1)}\r\n`,
      `\r\n--${BOUNDARY} --`,
      `\r\n--${BOUNDARY}${' '.repeat(257)}\r\n`,
      `\r\n --${BOUNDARY}\r\n`,
      '\r\n--',
      '\r\n',
      '\r',
    ]
    for (const body of [...lookAlikes, lookAlikes.join('')]) {
      assert.deepEqual(bodies(form(['name="a"', body], ['name="b"', '-'])), [body, '-'])
    }
  })

  it('hands data on as it lies in the chunk', () => {
    const parser = new MultipartParser(BOUNDARY, LIMITS)
    const chunk = Buffer.from(form(['name="a"', 'one']))
    parser.push(chunk)
    assert.equal(parser.next()?.kind, 'part')
    const event = parser.next()
    assert.ok(event?.kind === 'data', 'no data came')
    assert.equal(Buffer.from(event.bytes).toString(), 'one')
    assert.equal(event.bytes.buffer, chunk.buffer)
  })

  it('hands data on as soon as it can be no delimiter', () => {
    const parser = new MultipartParser(BOUNDARY, LIMITS)
    parser.push(Buffer.from(`--${BOUNDARY}\r\n\r\none\r\n--${BOUNDARY.slice(0, 3)}`))
    const events = [parser.next(), parser.next(), parser.next()]
    const [, data] = events
    assert.deepEqual(
      events.map((event) => event?.kind),
      ['part', 'data', undefined],
    )
    assert.equal(data?.kind === 'data' && Buffer.from(data.bytes).toString(), 'one')
  })

  it('goes on when the reader has given data back before it asks for more', () => {
    const parser = new MultipartParser(BOUNDARY, LIMITS)
    parser.push(Buffer.from(`--${BOUNDARY}\r\n\r\n`))
    assert.equal(parser.next()?.kind, 'part')
    assert.equal(parser.next(), undefined)
    for (let chunks = 0; chunks < 2; chunks++) {
      const chunk = Buffer.alloc(8192, 'x')
      parser.push(chunk)
      assert.equal(parser.next()?.kind, 'data')
      handOver(chunk)
      freeBytes(chunk)
      assert.equal(parser.next(), undefined)
    }
    parser.push(Buffer.from(`\r\n--${BOUNDARY}--\r\n`))
    assert.equal(parser.next()?.kind, 'partEnd')
  })

  it('is read at the pace of its reader, who may not push more meanwhile', () => {
    const parser = new MultipartParser(BOUNDARY, LIMITS)
    parser.push(Buffer.from(form(['name="a"', 'one'])))
    parser.next()
    assert.throws(() => parser.push(Buffer.from('more')), /Cannot push/)
  })
})

describe('a form is refused', () => {
  it('when it ends before its last delimiter, wherever that is', () => {
    const body = form(['name="a"', 'one'], ['name="b"', 'two'])
    for (let length = 0; length < body.length - '\r\n'.length; length++) {
      refuses('MULTIPART_TRUNCATED', body.slice(0, length))
    }
  })

  it('when its lines do not end in CRLF', () => {
    refuses('MULTIPART_TRUNCATED', form(['name="a"', 'one']).replaceAll('\r\n', '\n'))
    refuses('MULTIPART_TRUNCATED', form(['name="a"', 'one']).replaceAll('\r\n', '\r'))
    refuses('MULTIPART_MALFORMED', formWithHeader(`${FIELD}\nX: y`))
  })

  it('when it has another boundary than was announced', () => {
    refuses('MULTIPART_TRUNCATED', form(['name="a"', 'one']), { boundary: 'another' })
  })

  it('when a header is malformed', () => {
    refuses('MULTIPART_MALFORMED', formWithHeader(FIELD, 'no field'))
    refuses('MULTIPART_MALFORMED', formWithHeader(`${FIELD}\0`))
    refuses('MULTIPART_MALFORMED', `--${BOUNDARY}\r\n${FIELD}\r\n--${BOUNDARY}--\r\n\r\n`)
  })

  it('when a part is a form, or encoded', () => {
    refuses('MULTIPART_NESTED', formWithHeader(FIELD, 'Content-Type: multipart/mixed; boundary=b'))
    refuses('UNSUPPORTED_ENCODING', formWithHeader(FIELD, 'Content-Transfer-Encoding: base64'))
  })

  it('when a header is longer than allowed', () => {
    const limits = { maxHeaderBytes: 1000 }
    const rest = `${FIELD}\r\nX: \r\n\r\n`.length
    const header = (size: number) => formWithHeader(FIELD, `X: ${'y'.repeat(size - rest)}`)
    assert.deepEqual(bodies(header(1000), { limits }), ['body'])
    refuses('PART_HEADER_TOO_LARGE', header(1001), { limits })
    refuses('PART_HEADER_TOO_LARGE', `--${BOUNDARY}\r\n${'X: y\r\n'.repeat(1000)}`, { limits })
    refuses('PART_HEADER_TOO_LARGE', `--${BOUNDARY}\r\n${'\n'.repeat(1001)}`, { limits })
  })

  it('when what surrounds it is longer than allowed', () => {
    const limits = { maxPaddingBytes: 1000 }
    const body = form(['name="a"', 'one'])
    const most = 'y'.repeat(1000)
    assert.deepEqual(bodies(`${most}\r\n${body}${most}`, { limits }), ['one'])
    refuses('PADDING_TOO_LARGE', `${most}y\r\n${body}`, { limits })
    refuses('PADDING_TOO_LARGE', `${body}${most}y`, { limits })
    refuses('PADDING_TOO_LARGE', `--${BOUNDARY}--${'\r\n'.repeat(502)}`, { limits })
    refuses('PADDING_TOO_LARGE', '\r\n'.repeat(1000), { limits })
  })
})
