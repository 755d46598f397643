/**
 * Replays a scenario over raw sockets.
 *
 * Whatever the fixture says, after each request another phone looks: an acknowledged push is on the
 * clipboard, for everybody, and nothing else ever changes it.
 *
 * @module
 */

import assert from 'node:assert/strict'
import type { FakeClock } from '../../support/fake-clock.ts'
import type { Phone } from '../../support/phone.ts'
import { RawClient } from '../../support/raw-http.ts'
import { checkAnswer, readField, type Answer } from './check-answer.ts'
import type { Exchange, ItemTemplate, Scenario, Step } from './client-script.ts'
import { deliverWhole, type Deliver } from './deliver.ts'
import { assertCurrent, observe, type NamedItem, type Observation } from './observe.ts'
import { fillTemplate } from './template.ts'

/** Where a scenario is played. */
export interface Stage {
  readonly port: number
  /** `user:password` of the client, in base64. */
  readonly credentials: string
  /** Another phone of the same person. */
  readonly phone: Phone
  readonly clock: Pick<FakeClock, 'advance'>
}

/** @returns The answers, in their order. */
export async function replay(
  { title, steps }: Scenario,
  stage: Stage,
  deliver: Deliver = deliverWhole,
): Promise<readonly Answer[]> {
  const play = new Play(stage, deliver, await observe(stage.phone))
  try {
    for (const step of steps) {
      try {
        await play.take(step)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new Error(`"${title}", line ${step.line}: ${reason}`, { cause: error })
      }
    }
  } finally {
    play.end()
  }
  return play.answers
}

class Play {
  readonly answers: Answer[] = []
  readonly #stage: Stage
  readonly #deliver: Deliver
  readonly #values: Map<string, Uint8Array>
  #seen: Observation
  #client: RawClient | undefined = undefined

  constructor(stage: Stage, deliver: Deliver, seen: Observation) {
    this.#stage = stage
    this.#deliver = deliver
    this.#seen = seen
    this.#values = new Map([
      ['host', Buffer.from(`127.0.0.1:${stage.port}`)],
      ['credentials', Buffer.from(stage.credentials)],
    ])
  }

  end(): void {
    this.#client?.close()
    this.#client = undefined
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'let':
        this.#values.set(step.name, step.make(fillTemplate(step.argument, this.#values)))
        return
      case 'wait':
        this.#stage.clock.advance(step.ms)
        return
      case 'given':
        return this.#give(this.#name(step.item))
      case 'current':
        assertCurrent(this.#seen, step.item && this.#name(step.item))
        return
      case 'compare': {
        const [first, second] = step.names.map((name) => {
          const value = fillTemplate({ parts: [name] }, this.#values).toString()
          return step.ignoreCase ? value.toLowerCase() : value
        })
        assert.equal(first, second, step.names.join(' is not '))
        return
      }
      case 'exchange':
        return this.#exchange(step)
    }
  }

  async #give(item: NamedItem): Promise<void> {
    const { phone } = this.#stage
    if (item.type === 'Text') await phone.pushText(item.text)
    else await phone.pushFile(item.type, item.dataName, item.bytes)
    this.#seen = await observe(phone)
    assertCurrent(this.#seen, item)
  }

  async #exchange(exchange: Exchange): Promise<void> {
    const answer = await this.#ask(exchange)
    this.answers.push(answer)
    const kept = checkAnswer(exchange, answer, this.#values)
    for (const [name, value] of kept) this.#values.set(name, value)

    const before = this.#seen
    this.#seen = await observe(this.#stage.phone)
    const { method, pushes } = exchange
    const isAcknowledged = answer.status >= 200 && answer.status < 300
    if (pushes === undefined || pushes === 'nothing' || !isAcknowledged) {
      assert.deepEqual(this.#seen, before, 'only an acknowledged push changes the clipboard')
    } else {
      assertCurrent(this.#seen, this.#name(pushes))
    }
    if (pushes === undefined || !isAcknowledged || method !== 'PUT') return
    // Who pushed a document is told what is on the clipboard now.
    const { contentId } = this.#seen.document
    if (contentId === undefined) return
    assert.equal(readField(answer.body, 'contentId'), contentId, 'the contentId is right')
  }

  async #ask(exchange: Exchange): Promise<Answer> {
    const { method, awaitsContinue, opens, closes } = exchange
    if (opens) this.end()
    this.#client ??= await RawClient.connect(this.#stage.port)
    const client = this.#client
    const body = fillTemplate(exchange.body, this.#values)
    this.#values.set('length', Buffer.from(String(body.length)))
    const head = Buffer.concat([fillTemplate(exchange.head, this.#values), Buffer.from('\r\n\r\n')])
    const framed = exchange.chunks === undefined ? body : chunk(body, exchange.chunks)

    await this.#deliver(client, awaitsContinue ? head : Buffer.concat([head, framed]))
    let answer = await client.read(method)
    if (awaitsContinue && answer.status === 100) await this.#deliver(client, framed)
    while (answer.status < 200) answer = await client.read(method)
    if (closes) assert.equal(await client.readToEnd(), '', 'the connection ends after the answer')
    if (closes || answer.headers['connection'] === 'close') this.end()
    return { ...answer, body: Buffer.from(answer.body, 'latin1') }
  }

  #name(item: ItemTemplate): NamedItem {
    const { type } = item
    if (type === 'Text') return { type, text: fillTemplate(item.text, this.#values).toString() }
    const dataName = fillTemplate(item.dataName, this.#values).toString()
    return { type, dataName, bytes: fillTemplate(item.bytes, this.#values) }
  }
}

/** The chunked coding of RFC 9112, 7.1. */
function chunk(body: Buffer, sizes: readonly number[]): Buffer {
  const pieces: Buffer[] = []
  let rest = body
  for (const wanted of [...sizes, body.length]) {
    const piece = rest.subarray(0, wanted)
    rest = rest.subarray(wanted)
    const size = Buffer.from(`${piece.length.toString(16)}\r\n`)
    if (piece.length > 0) pieces.push(size, piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
