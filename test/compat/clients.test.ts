import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from '../support/property.ts'
import type { Answer } from './support/check-answer.ts'
import type { Scenario } from './support/client-script.ts'
import { deliverInPieces } from './support/deliver.ts'
import { parseScript } from './support/parse-script.ts'
import { replay } from './support/replay.ts'
import { withClipboard } from './support/serve-clipboard.ts'

const CLIENTS = new URL('../../fixtures/clients/', import.meta.url)

function read(file: string): string {
  return readFileSync(new URL(file, CLIENTS), 'utf8')
}

const scripts = readdirSync(CLIENTS)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => parseScript(file, read(file)))

/** Fields that tell the time, or how much had arrived when the answer was made. */
const PASSING: ReadonlySet<string> = new Set(['date', 'last-modified', 'connection', 'keep-alive'])

function lasting({ status, headers, body }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !PASSING.has(name))
  return { status, headers: Object.fromEntries(kept), body: body.toString('latin1') }
}

/** What the product answers when every request comes in one piece. */
const answered = new Map<Scenario, Promise<readonly Answer[]>>()

function replayWhole(scenario: Scenario): Promise<readonly Answer[]> {
  const known = answered.get(scenario)
  if (known !== undefined) return known
  const fresh = withClipboard(async (clipboard) => {
    const answers = await replay(scenario, clipboard)
    const troubles = clipboard.logger.lines.filter(({ level }) => level === 'error')
    assert.deepEqual(troubles, [], 'the gateway has nothing to complain about')
    return answers
  })
  answered.set(scenario, fresh)
  return fresh
}

describe('the client', () => {
  for (const { file, scenarios } of scripts) {
    describe(file.replace('.txt', ''), () => {
      for (const scenario of scenarios) {
        it(scenario.title, async () => {
          await replayWhole(scenario)
        })
      }
    })
  }
})

describe('fixtures/clients/README.md', () => {
  it('has an example that is one', async () => {
    const [, example = ''] = /^```\n(let [^]*?)^```$/m.exec(read('README.md')) ?? []
    const { scenarios } = parseScript('README.md', example)
    for (const scenario of scenarios) await replayWhole(scenario)
  })
})

describe('every client', () => {
  it('gets the same answers when its bytes come in pieces', () => {
    const all = scripts.flatMap(({ scenarios }) => scenarios)
    const cuts = fc.array(fc.nat(), { minLength: 1, maxLength: 6 })
    const property = fc.asyncProperty(fc.constantFrom(...all), cuts, async (scenario, points) => {
      const whole = await replayWhole(scenario)
      const deliver = deliverInPieces(points)
      const cut = await withClipboard((clipboard) => replay(scenario, clipboard, deliver))
      assert.deepEqual(cut.map(lasting), whole.map(lasting), scenario.title)
    })
    return fc.assert(property)
  })
})
