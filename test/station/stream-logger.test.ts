import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { createStreamLogger } from '../../src/station/stream-logger.ts'

function linesOf(stream: PassThrough): readonly string[] {
  // Piece by piece: from Node 26 on, `read` gives one at a time.
  let text = ''
  for (let piece = stream.read(); piece !== null; piece = stream.read()) text += String(piece)
  return text.split('\n').filter((line) => line !== '')
}

describe('createStreamLogger()', () => {
  it('writes a line with time, level, message and fields', () => {
    const stream = new PassThrough()
    createStreamLogger(stream, 'info').warn('Cannot', { port: 1, why: 'a "b"', gone: undefined })
    assert.match(
      linesOf(stream)[0] ?? '',
      /^\d{4}-\d\d-\d\dT[\d:.]+Z warn {2}Cannot port=1 why="a \\"b\\""$/,
    )
  })

  it('leaves out what is less important than asked for', () => {
    const stream = new PassThrough()
    const logger = createStreamLogger(stream, 'warn')
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](level)
    assert.deepEqual(
      linesOf(stream).map((line) => line.split(' ')[1]),
      ['warn', 'error'],
    )
  })

  it('shows what a terminal would obey', () => {
    const stream = new PassThrough()
    createStreamLogger(stream, 'info').info('a\x1b[31m\u202eb', { name: 'x\ny' })
    const [line = '', ...others] = linesOf(stream)
    assert.match(line, /a\\u\{1b\}\[31m\\u\{202e\}b name="x\\ny"$/)
    assert.deepEqual(others, [])
  })

  it('goes on when nobody reads any more', () => {
    const stream = new PassThrough()
    const logger = createStreamLogger(stream, 'info')
    stream.destroy()
    logger.error('nobody hears this')
    assert.equal(stream.destroyed, true)
  })
})
