import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { listen } from '../support/listen.ts'
import { RawClient } from '../support/raw-http.ts'
import { serveCarelessly, type Care } from './support/careless-server.ts'
import {
  type Client,
  deliverInPieces,
  HOST,
  LENGTH,
  play,
  sample,
  type Exchange,
  type Scenarios,
} from './support/client.ts'
import type { Item } from './support/observe.ts'
import { withClipboard } from './support/serve-clipboard.ts'

type Scenario = Scenarios[string]

const HONEST: Care = { keep: (current, pushed) => (pushed === '' ? current : pushed) }

const FORGETFUL: Care = { keep: (current) => current }

const ask: Scenario = async (client) => void (await client.ask(['GET /', HOST], 200))

function push(text: string, status: 200 | '4xx' | '5xx' = 200): Scenario {
  const body = JSON.stringify({ type: 'Text', text })
  const item: Item | 'nothing' = text === '' ? 'nothing' : ['Text', text]
  return async (client) =>
    void (await client.push(item, ['PUT /Sync.json', HOST, LENGTH], status, { body }))
}

for (const [what, care, scenario] of [
  ['a server that does right', HONEST, push('new')],
  ['a blank push that changes nothing', HONEST, push('')],
  ['a refused push that changes nothing', { ...FORGETFUL, status: 500 }, push('new', '5xx')],
] as const) {
  it(`a scenario of a client is content with ${what}`, async (t) => {
    await play(scenario, await serveCarelessly(t, care))
  })
}

const changed = /only an acknowledged push changes the clipboard/
const nervous = { ...HONEST, afterRead: () => 'something else' }
const askCarelessly: Scenario = async (client) =>
  void (await client.ask(['GET /careless', HOST], 200))
for (const [what, care, scenario, reason] of [
  ['a push that was acknowledged and lost', FORGETFUL, push('new'), /this text is on the/],
  ['a clipboard that was blanked', { keep: (_, pushed) => pushed }, push(''), changed],
  ['a push that was refused and applied', { ...HONEST, status: 400 }, push('a', '4xx'), changed],
  ['a mere question that changed the clipboard', nervous, askCarelessly, changed],
  ['a hash that is not that of the item', { ...HONEST, hash: () => '00' }, ask, /the hash is/],
  ['a wrong content id', { ...HONEST, contentId: () => 'b' }, push('new'), /the contentId is/],
  ['nothing at all', HONEST, async () => {}, /the scenario asks something/],
] as const satisfies readonly (readonly [string, Care, Scenario, RegExp])[]) {
  it(`a scenario of a client notices ${what}`, async (t) => {
    await assert.rejects(play(scenario, await serveCarelessly(t, care)), reason)
  })
}

it('a scenario of a client notices bytes after the last answer of a connection', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  const server = createServer((socket) => socket.end(`${answer}more`))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const stage = { ...(await serveCarelessly(t, HONEST)), port: Object(server.address()).port }
  const closing: Scenario = async (client) =>
    void (await client.ask(['GET /', HOST], 200, { closes: true }))
  await assert.rejects(play(closing, stage), /the connection ends/)
})

it('a scenario of a client notices that another item is on the clipboard than it expects', async () => {
  const dots = sample('dots.png')
  const run = (item: Item | 'nothing') =>
    withClipboard((clipboard) => play(async (client) => seeing(client, item), clipboard))
  const seeing = async (client: Client, item: Item | 'nothing') => {
    await client.ask(['GET /healthz', HOST], 204)
    client.sees('nothing')
    await client.given(['Image', 'a.png', dots])
    client.sees(item)
  }
  await run(['Image', 'a.png', dots])
  await assert.rejects(run(['Image', 'a.png', sample('dot.png')]), /its bytes are those/)
  await assert.rejects(run(['Image', 'b.png', dots]), /this item is on the clipboard/)
  await assert.rejects(run(['File', 'a.png', dots]), /this item is on the clipboard/)
  await assert.rejects(run(['Text', 'a.png']), /this text is on the clipboard/)
  await assert.rejects(run('nothing'), /nothing is on the clipboard/)
})

// What the careless server answers: a text, and no more.
const answered = '{"type":"Text","text":"precious","hasData":false,"size":8'
const accepted: readonly Exchange[] = [
  { fields: { 'Content-Length': '*' } },
  { lacks: ['Location'] },
  { without: 'list' },
  { json: { type: 'Text', size: 8 } },
]
const refused: readonly Exchange[] = [
  { fields: { 'Content-Length': '1' } },
  { fields: { Location: '*' } },
  { lacks: ['Content-Length'] },
  { without: 'type' },
  { answer: '' },
  { answer: answered },
  ...[{ type: 'text' }, { list: [] }, { text: {} }, { toString: {} }, [], null, { type: null }].map(
    (json) => ({ json }),
  ),
]

it('an answer to a client is accepted when it has what the client needs', async (t) => {
  const stage = await serveCarelessly(t, HONEST)
  for (const exchange of accepted) {
    await play(async (client) => void (await client.ask(['GET /', HOST], '2xx', exchange)), stage)
  }
})

it('an answer to a client is refused when its status, a field or its body is another', async (t) => {
  const stage = await serveCarelessly(t, HONEST)
  for (const status of [201, '3xx', [404, '5xx']] as const) {
    const asking = play(async (client) => void (await client.ask(['GET /', HOST], status)), stage)
    await assert.rejects(asking, /the answer is 200/, String(status))
  }
  for (const exchange of refused) {
    const asking = play(
      async (client) => void (await client.ask(['GET /', HOST], 200, exchange)),
      stage,
    )
    await assert.rejects(asking, assert.AssertionError, JSON.stringify(exchange))
  }
})

describe('deliverInPieces()', () => {
  it('sends every byte, in several pieces', async (t) => {
    const pieces: Buffer[] = []
    const server = createServer()
    const port = await listen(t, server)
    const connected = once(server, 'connection')
    const client = await RawClient.connect(port)
    const [socket] = await connected
    socket.on('data', (piece: Buffer) => pieces.push(piece))
    await deliverInPieces([3, 25, 1])(client, Buffer.from('0123456789'))
    await deliverInPieces([3])(client, Buffer.alloc(0))
    client.socket.end()
    await once(socket, 'end')
    assert.equal(Buffer.concat(pieces).toString(), '0123456789')
    assert.ok(pieces.length > 1, 'a network that joins everything would prove nothing')
    client.close()
  })
})
