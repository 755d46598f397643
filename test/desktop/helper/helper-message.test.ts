import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatHelperRequest,
  parseHelperMessage,
} from '../../../src/desktop/helper/helper-message.ts'
import fc, { forAll } from '../../support/property.ts'

const parse = (line: string) => parseHelperMessage(Buffer.from(line))

describe('the line protocol of helpers', () => {
  it('is nothing else', () => {
    const lines = ['', 'hello', '1', 'null', '[]', '{}', '{"event":1}', '{"reply":"3"}', '{"event"']
    for (const line of lines) assert.equal(parse(line), undefined, line)
    assert.equal(parseHelperMessage(Uint8Array.from([0x22, 0xff, 0x22])), undefined)
  })

  it('never throws, whatever a helper writes', () => {
    forAll(fc.uint8Array(), (line) => void parseHelperMessage(line))
    forAll(fc.json(), (line) => void parse(line))
  })

  it('asks in one line, with an id that no field replaces', () => {
    forAll(fc.nat(), fc.string(), fc.string(), (id, action, text) => {
      const line = formatHelperRequest(id, action, { text, id: 'x', do: 'y' })
      assert.equal(line.indexOf('\n'), line.length - 1)
      assert.deepEqual(JSON.parse(line), { text, id, do: action })
    })
  })
})
