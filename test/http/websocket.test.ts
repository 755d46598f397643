import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  acceptKey,
  CLOSE_CODES,
  encodeClose,
  encodePong,
  encodeText,
  WebSocketError,
  WebSocketReader,
  type WebSocketMessage,
} from '../../src/http/websocket.ts'
import fc, { forAll } from '../support/property.ts'
import { clientFrame, splitAt } from '../support/websocket-frames.ts'

const MAX_BYTES = 1000

const TEXT = 0x1
const BINARY = 0x2
const CONTINUATION = 0x0

/** What comes of bytes in these chunks, and the code of the error that ends it, if any. */
function read(chunks: readonly Uint8Array[]): {
  messages: WebSocketMessage[]
  code: number | undefined
} {
  const reader = new WebSocketReader(MAX_BYTES)
  const messages: WebSocketMessage[] = []
  try {
    for (const chunk of chunks) for (const message of reader.read(chunk)) messages.push(message)
  } catch (error) {
    assert.ok(error instanceof WebSocketError)
    return { messages, code: error.code }
  }
  return { messages, code: undefined }
}

/** Text in one frame or in several, with control frames in between. */
const script = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('text' as const),
      opcode: fc.constantFrom(TEXT, BINARY),
      parts: fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant('ping' as const), payload: fc.uint8Array({ maxLength: 125 }) }),
    fc.record({ kind: fc.constant('pong' as const) }),
  ),
  { maxLength: 8 },
)

describe('WebSocketReader', () => {
  it('reads the same messages from whatever chunks the bytes come in', () =>
    forAll(
      script,
      fc.array(fc.nat(3000)),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      (steps, cuts, mask) => {
        const frames = steps.flatMap((step) => {
          if (step.kind === 'ping') return [clientFrame(0x9, step.payload, { mask })]
          if (step.kind === 'pong') return [clientFrame(0xa, Buffer.alloc(0), { mask })]
          const last = step.parts.length - 1
          return step.parts.flatMap((part, index) => [
            clientFrame(index === 0 ? step.opcode : CONTINUATION, Buffer.from(part), {
              mask,
              isFinal: index === last,
            }),
            ...(index < last ? [clientFrame(0xa, Buffer.from('between'), { mask })] : []),
          ])
        })
        const { messages, code } = read(splitAt(Buffer.concat(frames), cuts))
        const expected = steps.flatMap((step): WebSocketMessage[] => {
          if (step.kind !== 'text') {
            return [
              step.kind === 'pong'
                ? { kind: 'pong' }
                : { kind: 'ping', payload: Buffer.from(step.payload) },
            ]
          }
          const pongs = step.parts.slice(1).map(() => ({ kind: 'pong' }) as const)
          return [
            ...pongs,
            { kind: 'text', text: step.parts.map((part) => Buffer.from(part).toString()).join('') },
          ]
        })
        assert.deepEqual([code, messages], [undefined, expected])
      },
    ))

  it('takes any bytes without an error of another kind, whatever chunks they come in', () =>
    forAll(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300)), (bytes, cuts) => {
      assert.deepEqual(read(splitAt(bytes, cuts)), read([bytes]))
    }))

  for (const [what, bytes, code] of [
    ['a frame without a mask', [0x81, 0x00], CLOSE_CODES.protocolError],
    ['a reserved bit', [0xc1], CLOSE_CODES.protocolError],
    ['an opcode that is not defined', [0x83], CLOSE_CODES.protocolError],
    ['a continuation of nothing', [0x80], CLOSE_CODES.protocolError],
    ['a message inside another one', [0x01, 0x80, 0, 0, 0, 0, 0x81], CLOSE_CODES.protocolError],
    ['a ping in fragments', [0x09], CLOSE_CODES.protocolError],
    ['a ping of 126 bytes', [0x89, 0xfe], CLOSE_CODES.protocolError],
    ['a length of two bytes that fits in one', [0x81, 0xfe, 0, 125], CLOSE_CODES.protocolError],
    [
      'a length of eight bytes that fits in two',
      [0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
      CLOSE_CODES.protocolError,
    ],
    ['a message of a gigabyte', [0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0], CLOSE_CODES.messageTooBig],
    ['a message that is too long by a byte', [0x81, 0xfe, 0x03, 0xe9], CLOSE_CODES.messageTooBig],
    ['text that is not UTF-8', clientFrame(TEXT, Buffer.from([0xff])), CLOSE_CODES.invalidPayload],
    ['half a close code', clientFrame(0x8, Buffer.from([3])), CLOSE_CODES.protocolError],
    [
      'a close code that nobody may send',
      clientFrame(0x8, Buffer.from([3, 0xed])),
      CLOSE_CODES.protocolError,
    ],
    [
      'a close reason that is not UTF-8',
      clientFrame(0x8, Buffer.from([3, 0xe8, 0xff])),
      CLOSE_CODES.invalidPayload,
    ],
  ] as const) {
    it(`refuses ${what} as soon as it is known`, () => {
      const chunks = Array.from(bytes, (byte) => Buffer.from([byte]))
      assert.deepEqual(read(chunks.slice(0, -1)).code, undefined)
      assert.equal(read(chunks).code, code)
      assert.equal(read([Buffer.from(bytes)]).code, code)
    })
  }

  // Protocol: A message of a client has at most 32 KiB
  it('refuses fragments that are too long together', () => {
    const half = Buffer.alloc(MAX_BYTES / 2 + 1, 'a')
    const first = clientFrame(TEXT, half, { isFinal: false })
    assert.equal(read([first]).code, undefined)
    assert.equal(read([first, clientFrame(CONTINUATION, half)]).code, CLOSE_CODES.messageTooBig)
  })

  for (const payload of [[], [3, 0xe8], [0x0b, 0xb8], [3, 0xe9, 0x62]]) {
    it(`reads a close frame with the payload ${Buffer.from(payload).toString('hex')}`, () => {
      assert.deepEqual(read([clientFrame(0x8, Buffer.from(payload))]).messages, [{ kind: 'close' }])
    })
  }
})

describe('frames of the server', () => {
  for (const [length, header] of [
    [0, '8100'],
    [125, '817d'],
    [126, '817e007e'],
    [65_535, '817effff'],
    [65_536, '817f0000000000010000'],
  ] as const) {
    it(`carry ${length} bytes of text`, () => {
      const text = 'x'.repeat(length)
      const frame = Buffer.from(encodeText(text))
      assert.equal(frame.toString('hex', 0, header.length / 2), header)
      assert.equal(frame.toString('utf8', header.length / 2), text)
    })
  }

  it('answer a ping with its payload, and name the reason of an end', () => {
    assert.deepEqual(encodePong(Buffer.from('hi')), Buffer.from([0x8a, 2, 0x68, 0x69]))
    assert.deepEqual(encodeClose(CLOSE_CODES.goingAway), Buffer.from([0x88, 2, 0x03, 0xe9]))
  })
})

describe('acceptKey()', () => {
  it('answers the example of RFC 6455', () => {
    assert.equal(acceptKey('dGhlIHNhbXBsZSBub25jZQ=='), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  })

  for (const key of ['', 'short', 'dGhlIHNhbXBsZSBub25jZQ', 'dGhlIHNhbXBsZSBub25jZQ==\n']) {
    it(`knows that ${JSON.stringify(key)} is no key`, () => {
      assert.equal(acceptKey(key), undefined)
    })
  }
})
