import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatWaylandMessage,
  formatWords,
  parseAnnouncedInterface,
  splitWaylandMessages,
  type WaylandMessage,
} from '../../../src/desktop/wayland/wayland-messages.ts'
import fc, { forAll } from '../../support/property.ts'
import { announcement } from './support/fake-wayland.ts'

function split(chunks: readonly Uint8Array[]): WaylandMessage[] {
  const messages: WaylandMessage[] = []
  const push = splitWaylandMessages(({ object, opcode, body }) => {
    messages.push({ object, opcode, body: Uint8Array.from(body) })
  })
  for (const chunk of chunks) push(chunk)
  return messages
}

const word = fc.nat(0xffffffff)
const message = fc.record({
  object: word,
  opcode: fc.nat(0xffff),
  words: fc.array(word, { maxLength: 6 }),
})

describe('the messages of Wayland', () => {
  it('are read as they were written, however the bytes are cut', () => {
    const cuts = fc.array(fc.nat(300), { maxLength: 20 })
    forAll(fc.array(message, { maxLength: 8 }), cuts, (messages, places) => {
      const written = messages.map(({ object, opcode, words }) => ({
        object,
        opcode,
        body: formatWords(words),
      }))
      const whole = Buffer.concat(
        messages.map(({ object, opcode, words }) => formatWaylandMessage(object, opcode, words)),
      )
      const ends = [...places.filter((place) => place < whole.length), whole.length]
      const sorted = [0, ...ends.toSorted((a, b) => a - b)]
      const chunks = sorted.slice(1).map((end, index) => whole.subarray(sorted[index], end))
      assert.deepEqual(split(chunks), written)
    })
  })

  it('are refused when they have no size', () => {
    assert.throws(() => split([formatWords([1, 7 << 16])]), /it has no size/)
  })

  it('announce what a compositor offers', () => {
    const names = ['wl_seat', 'a', 'zwlr_data_control_manager_v1', 'abc', 'abcd']
    const [...messages] = split([announcement(names)])
    const announced = messages.slice(0, -1).map(({ body }) => parseAnnouncedInterface(body))
    assert.deepEqual(announced, names)
  })

  it('never make the parsers throw anything else, whatever they hold', () => {
    forAll(fc.uint8Array(), (body) => void parseAnnouncedInterface(body))
    forAll(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        split([bytes])
      } catch (error) {
        assert.match(String(error), /it has no size/)
      }
    })
  })
})
