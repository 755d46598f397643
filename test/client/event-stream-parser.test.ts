import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ClientError } from '../../src/client.ts'
import {
  EventStreamParser,
  MAX_DATA_LENGTH,
  MAX_LINE_LENGTH,
  type StreamEvent,
} from '../../src/client/event-stream-parser.ts'
import fc, { forAll } from '../support/property.ts'

/** What comes out: the events, and the reason of the failure if there is one. */
function parse(...pieces: readonly (string | Uint8Array)[]): readonly (StreamEvent | string)[] {
  const parser = new EventStreamParser()
  const parsed: (StreamEvent | string)[] = []
  try {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      for (const event of parser.push(bytes)) parsed.push(event)
    }
  } catch (error) {
    assert.ok(error instanceof ClientError, String(error))
    assert.equal(error.code, 'BAD_ANSWER')
    parsed.push(error.reason ?? '')
  }
  return parsed
}

function message(data: string, type = 'message'): StreamEvent {
  return { type, data }
}

/** Cuts `bytes` at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const sorted = [...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length))
}

describe('an event stream', () => {
  it('has events with a type and data', () => {
    assert.deepEqual(parse('event: update\ndata: {"a":1}\n\ndata: b\n\n'), [
      message('{"a":1}', 'update'),
      message('b'),
    ])
  })

  it('ends lines with LF, CR or CRLF, also mixed', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      assert.deepEqual(parse(`event: a${end}data: b${end}${end}data: c${end}${end}`), [
        message('b', 'a'),
        message('c'),
      ])
    }
    assert.deepEqual(parse('data: a\rdata: b\ndata: c\r\n\r'), [message('a\nb\nc')])
  })

  it('gives an event at the CR that completes it, and takes the LF behind it away', () => {
    assert.deepEqual(parse('data: a\r\r'), [message('a')])
    assert.deepEqual(parse('data: a\r', '\n\r', '\ndata: b\n', '\n'), [message('a'), message('b')])
    assert.deepEqual(parse('data: a\r', '\n', '\n'), [message('a')])
  })

  it('has data of several lines, of one empty line, and of none', () => {
    assert.deepEqual(parse('data: a\ndata\ndata:\ndata: b\n\n'), [message('a\n\n\nb')])
    assert.deepEqual(parse('data\n\n'), [message('')])
    assert.deepEqual(parse('event: gone\n\ndata: a\n\n'), [message('a')])
  })

  it('takes away one space behind the colon, and no more', () => {
    assert.deepEqual(parse('data:a\n\ndata:  b \n\ndata:\tc\n\n'), [
      message('a'),
      message(' b '),
      message('\tc'),
    ])
  })

  it('reads over comments, and fields that say nothing here', () => {
    const text = ': ping\n:\nid: 1\nretry: 5\nwhat: ever\nDATA: x\n data: y\n\ndata: a\n\n'
    assert.deepEqual(parse(text), [message('a')])
  })

  it('loses an event that it ends in', () => {
    assert.deepEqual(parse('data: a\n\ndata: b\n'), [message('a')])
  })

  it('may begin with a byte order mark, and keeps others', () => {
    assert.deepEqual(parse('\ufeffdata: \ufeffa\n\n'), [message('\ufeffa')])
    assert.deepEqual(parse('data: a\n\n', '\ufeffdata: b\n\n'), [message('a')])
    const [first, second, third] = Buffer.from('\ufeff')
    const pieces = [[first], [second], [third]].map((piece) => Uint8Array.from(piece.map(Number)))
    assert.deepEqual(parse(...pieces, 'data: a\n\n'), [message('a')])
  })

  it('has replacement characters for what is not UTF-8', () => {
    assert.deepEqual(parse(Buffer.from('data: \xff\n\n', 'latin1')), [message('\ufffd')])
  })

  it('fails at a line without an end, before it takes more memory', () => {
    const line = `data: ${'x'.repeat(MAX_LINE_LENGTH)}`
    assert.deepEqual(parse('data: a\n\n', line), [
      message('a'),
      'a line of the event stream is too long',
    ])
    assert.deepEqual(parse(`:${'x'.repeat(MAX_LINE_LENGTH - 1)}\ndata: a\n\n`), [message('a')])
  })

  it('fails at an event without an end', () => {
    const line = `data: ${'x'.repeat(999)}\n`
    const fitting = line.repeat(Math.floor(MAX_DATA_LENGTH / 1000))
    assert.equal(parse(`${fitting}\n`).length, 1)
    assert.deepEqual(parse(fitting + line), ['an event of the event stream is too long'])
  })
})

describe('any event stream', () => {
  const character = fc.constantFrom('a', ':', ' ', 'é', '漢', '😀', '\ufeff', '"')
  const text = fc.string({ unit: character })
  const end = fc.constantFrom('\n', '\r', '\r\n')
  const event = fc.record({ type: text, lines: fc.array(text, { minLength: 1, maxLength: 4 }) })

  it('reads what a generator writes, whatever stands in between', () => {
    const noise = fc.array(
      fc.oneof(
        text.map((comment) => `:${comment}`),
        fc.constant('id: 5'),
      ),
    )
    const spelled = fc.tuple(event, noise, fc.boolean(), end)
    forAll(fc.array(spelled), fc.boolean(), (events, hasMark) => {
      const stream = events.map(([{ type, lines }, comments, isTypeLast, eol]) => {
        const data = lines.map((line) => `data: ${line}`)
        const fields = isTypeLast ? [...data, `event: ${type}`] : [`event: ${type}`, ...data]
        return [...comments, ...fields, '', ''].join(eol)
      })
      const expected = events.map(([{ type, lines }]) => {
        return message(lines.join('\n'), type || undefined)
      })
      assert.deepEqual(parse((hasMark ? '\ufeff' : '') + stream.join('')), expected)
    })
  })

  it('gives the same events however it is cut', () => {
    const name = fc.constantFrom('data:', 'data: ', 'event: ', 'id: ', ':', '')
    const line = fc.oneof(
      fc.tuple(name, text).map((parts) => parts.join('')),
      fc.constantFrom('', '', `data: ${'x'.repeat(MAX_LINE_LENGTH - 7)}`),
    )
    const streams = fc.array(fc.tuple(line, end)).map((lines) => Buffer.from(lines.flat().join('')))
    const anything = fc.oneof({ weight: 4, arbitrary: streams }, fc.uint8Array())
    forAll(anything, fc.array(fc.nat(), { maxLength: 20 }), (bytes, places) => {
      assert.deepEqual(parse(...cut(bytes, places)), parse(bytes))
    })
    forAll(fc.array(fc.tuple(text, end)), (lines) => {
      const stream = lines.map(([content, eol]) => `data:${content}${eol}${eol}`)
      const bytes = Buffer.from(stream.join(''))
      assert.deepEqual(parse(...cut(bytes, [...bytes.keys()])), parse(bytes))
    })
  })
})
