import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { it } from 'node:test'
import fc from '../support/property.ts'
import { deliverInPieces, play, type Answer, type Scenarios } from './support/client.ts'
import { withClipboard } from './support/serve-clipboard.ts'

const CLIENTS = new URL('../../fixtures/clients/', import.meta.url)

type Scenario = Scenarios[string]

async function read(file: string): Promise<readonly (readonly [title: string, Scenario])[]> {
  const name = file.replace('.ts', '')
  const { scenarios }: { scenarios: Scenarios } = await import(`../../fixtures/clients/${name}.ts`)
  return Object.entries(scenarios).map(([title, run]) => [`${name}: ${title}`, run])
}

const files = readdirSync(CLIENTS).filter((file) => file.endsWith('.ts'))
const all = (await Promise.all(files.map(read))).flat()

/** Fields that tell the time, or how much had arrived when the answer was made. */
const PASSING: ReadonlySet<string> = new Set(['date', 'last-modified', 'connection', 'keep-alive'])

function lasting({ status, headers, body }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !PASSING.has(name))
  // The hub gives each connection a name of its own.
  const text = body.toString('latin1').replace(/"connection(?:Id|Token)":"[^"]*"/g, '')
  return { status, headers: Object.fromEntries(kept), body: text }
}

/** What the product answers when every request comes in one piece. */
const answered = new Map<Scenario, Promise<readonly Answer[]>>()

function playWhole(scenario: Scenario): Promise<readonly Answer[]> {
  const known = answered.get(scenario)
  if (known !== undefined) return known
  const fresh = withClipboard(async (clipboard) => {
    const answers = await play(scenario, clipboard)
    const troubles = clipboard.logger.lines.filter(({ level }) => level === 'error')
    assert.deepEqual(troubles, [], 'the gateway has nothing to complain about')
    return answers
  })
  answered.set(scenario, fresh)
  return fresh
}

for (const [title, scenario] of all) it(title, async () => void (await playWhole(scenario)))

// Protocol: After any other answer the earlier item is as it was
it('every client gets the same answers when its bytes come in pieces', () => {
  const cuts = fc.array(fc.nat(), { minLength: 1, maxLength: 6 })
  const property = fc.asyncProperty(fc.constantFrom(...all), cuts, async ([title, run], points) => {
    const whole = await playWhole(run)
    const deliver = deliverInPieces(points)
    const cut = await withClipboard((clipboard) => play(run, clipboard, deliver))
    assert.deepEqual(cut.map(lasting), whole.map(lasting), title)
  })
  return fc.assert(property)
})

it('each family of clients stands in the guide for phones', () => {
  const guide = readFileSync(new URL('../../docs/guides/phones.md', import.meta.url), 'utf8')
  assert.deepEqual(
    files.filter((file) => !guide.includes(`fixtures/clients/${file})`)),
    [],
  )
})
