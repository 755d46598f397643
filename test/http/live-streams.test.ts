import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeEvent, EventStream } from '../../src/http/live-streams.ts'
import type { Wire } from '../../src/http/reply.ts'
import fc, { forAll } from '../support/property.ts'

/** A client that reads when the test says so. */
class HeldWire implements Wire {
  readonly written: string[] = []
  isEnded = false
  #onWritten: (() => void) | undefined = undefined
  #onGone: () => void = () => {}

  write(chunk: Uint8Array, onWritten: () => void): void {
    assert.equal(this.#onWritten, undefined, 'one write at a time')
    assert.equal(this.isEnded, false, 'nothing after the end')
    this.written.push(String(Buffer.from(chunk)))
    this.#onWritten = onWritten
  }

  end(): void {
    this.isEnded = true
  }

  onGone(callback: () => void): void {
    this.#onGone = callback
  }

  pause(): void {}

  resume(): void {}

  onData(): void {
    assert.fail('no client of an event stream sends anything')
  }

  /** The client takes what was written. */
  read(): void {
    const onWritten = this.#onWritten
    this.#onWritten = undefined
    onWritten?.()
  }

  leave(): void {
    this.#onGone()
  }
}

function open(onGone: () => void = () => {}) {
  const wire = new HeldWire()
  const stream = new EventStream(wire, () => encodeEvent('resync', {}), onGone)
  return { wire, stream, send: (data: number) => stream.send(encodeEvent('update', data)) }
}

const update = (data: number): string => `event: update\ndata: ${data}\n\n`
const RESYNC = 'event: resync\ndata: {}\n\n'

describe('an event stream', () => {
  it('sends what the client keeps up with', () => {
    const { wire, send } = open()
    for (const data of [1, 2, 3]) {
      send(data)
      wire.read()
    }
    assert.deepEqual(wire.written, [update(1), update(2), update(3)])
  })

  // Protocol: A reader that does not drain costs one pending frame
  it('keeps one frame for a client that does not read, and says when it left some out', () => {
    const { wire, send } = open()
    for (const data of [1, 2, 3, 4]) send(data)
    assert.deepEqual(wire.written, [update(1)])
    wire.read()
    assert.deepEqual(wire.written.slice(1), [update(4) + RESYNC])
    wire.read()
    send(5)
    wire.read()
    assert.deepEqual(wire.written.slice(2), [update(5)])
  })

  it('says nothing of frames left out when none were', () => {
    const { wire, send } = open()
    send(1)
    send(2)
    wire.read()
    assert.deepEqual(wire.written, [update(1), update(2)])
  })

  it('pings a quiet client, and not one that has something to read', () => {
    const { wire, stream, send } = open()
    stream.beat()
    wire.read()
    send(1)
    stream.beat()
    wire.read()
    assert.deepEqual(wire.written, [': ping\n\n', update(1)])
  })

  it('sends nothing after its end, not even what waited', () => {
    const { wire, stream, send } = open()
    send(1)
    send(2)
    stream.end()
    stream.end()
    send(3)
    stream.beat()
    wire.read()
    assert.deepEqual([wire.written, wire.isEnded], [[update(1)], true])
  })

  it('tells when the client has left, and leaves it alone from then on', () => {
    let gone = 0
    const { wire, stream, send } = open(() => (gone += 1))
    wire.leave()
    send(1)
    stream.end()
    assert.deepEqual([gone, wire.written, wire.isEnded], [1, [], false])
  })

  it('never leaves the newest frame out, whatever the pace of the client', () =>
    forAll(fc.array(fc.boolean()), (steps) => {
      const { wire, send } = open()
      let sent = 0
      for (const isSend of steps) {
        if (isSend) send(++sent)
        else wire.read()
      }
      wire.read()
      wire.read()
      const text = wire.written.join('')
      const seen = [...text.matchAll(/data: (\d+)/g)].map(([, data]) => Number(data))
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a - b),
      )
      assert.equal(seen.at(-1) ?? 0, sent)
      const isComplete = seen.length === sent
      assert.equal(text.includes(RESYNC), !isComplete)
    }))
})
