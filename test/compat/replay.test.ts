import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, it, type TestContext } from 'node:test'
import { RawClient } from '../support/raw-http.ts'
import { serveCarelessly, type Care } from './support/careless-server.ts'
import { checkAnswer, type Answer } from './support/check-answer.ts'
import type { Exchange, Scenario } from './support/client-script.ts'
import { deliverInPieces } from './support/deliver.ts'
import { parseScript } from './support/parse-script.ts'
import { replay } from './support/replay.ts'
import { withClipboard } from './support/serve-clipboard.ts'

const HONEST: Care = { keep: (current, pushed) => (pushed === '' ? current : pushed) }

const LOGIN = 'Host: {{host}}\nAuthorization: Basic {{credentials}}'

const ASK = `>>>\nGET / HTTP/1.1\n${LOGIN}\n\n<<< 200\n\n`

function push(text: string, pushes: string, status = '200'): string {
  const head = 'PUT /Sync.json HTTP/1.1\nHost: {{host}}\nContent-Length: {{length}}\n'
  return `>>>\npushes ${pushes}\n${head}\n{"type":"Text","text":"${text}"}\n<<< ${status}\n\n`
}

function scenarioOf(lines: string): Scenario {
  const [scenario] = parseScript('one.txt', `== one\n${lines}`).scenarios
  assert.ok(scenario !== undefined, 'there is one scenario')
  return scenario
}

async function play(t: TestContext, care: Care, lines: string): Promise<void> {
  await replay(scenarioOf(lines), await serveCarelessly(t, care))
}

/** A listening server, and its port. */
async function listen(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return Object(server.address()).port
}

describe('a replay', () => {
  it('is content with a server that does right', async (t) => {
    await play(t, HONEST, `${push('new', 'Text new')}${push('', 'nothing')}current Text new\n`)
    await play(t, { keep: (current) => current, status: 500 }, push('new', 'Text new', '5xx'))
  })

  it('notices a push that was acknowledged and lost', async (t) => {
    const forgetful: Care = { keep: (current) => current }
    const lost = /^Error: "one", line 2: this text is on the clipboard/
    await assert.rejects(play(t, forgetful, push('new', 'Text new')), lost)
  })

  it('notices a clipboard that was blanked', async (t) => {
    const blanking: Care = { keep: (_, pushed) => pushed }
    await assert.rejects(play(t, blanking, push('', 'nothing')), /only an acknowledged push/)
  })

  it('notices a push that was refused and applied', async (t) => {
    const rude: Care = { ...HONEST, status: 400 }
    await assert.rejects(play(t, rude, push('new', 'Text new', '4xx')), /only an acknowledged push/)
  })

  it('notices that a mere question changed the clipboard', async (t) => {
    const nervous: Care = { ...HONEST, afterRead: () => 'something else' }
    const ask = ASK.replace('GET /', 'GET /careless')
    await assert.rejects(play(t, nervous, ask), /only an acknowledged push/)
  })

  it('notices hashes and content ids that are not those of the item', async (t) => {
    const wrong: Care = { ...HONEST, hash: () => '00' }
    await assert.rejects(play(t, wrong, ASK), /the hash is that of the text/)
    const lying: Care = { ...HONEST, contentId: () => 'blake3v1:00' }
    await assert.rejects(play(t, lying, push('new', 'Text new')), /the contentId is right/)
  })

  it('notices bytes after the last answer of a connection', async (t) => {
    const asking = ASK.replace('>>>', '>>> closes').replace('Host:', 'Connection: close\nHost:')
    await play(t, HONEST, asking)
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
    const port = await listen(
      t,
      createServer((socket) => socket.end(`${answer}more`)),
    )
    const stage = { ...(await serveCarelessly(t, HONEST)), port }
    await assert.rejects(replay(scenarioOf(asking), stage), /the connection ends after the answer/)
  })

  it('compares names exactly, or in any letter case', async (t) => {
    const values = 'let lower = sha256 x\nlet upper = SHA256 x\n'
    await play(t, HONEST, `${values}${ASK}alike lower upper\n`)
    const compared = play(t, HONEST, `${values}${ASK}same lower upper\n`)
    await assert.rejects(compared, /line 11: lower is not upper/)
  })

  it('sees what another phone gave, and that a fixture expects another thing', async () => {
    const run = (item: string) => {
      const values = 'let dots = sample dots.png\nlet dot = sample dot.png\n'
      const lines = `${values}given Image a.png {{dots}}\n${ASK}current ${item}\nalike dot dot\n`
      return withClipboard((clipboard) => replay(scenarioOf(lines), clipboard))
    }
    await run('Image a.png {{dots}}')
    await assert.rejects(run('Image a.png {{dot}}'), /its bytes are those that were pushed/)
    await assert.rejects(run('Image b.png {{dots}}'), /this item is on the clipboard/)
    await assert.rejects(run('File a.png {{dots}}'), /this item is on the clipboard/)
    await assert.rejects(run('Text a.png'), /this text is on the clipboard/)
    await assert.rejects(run('nothing'), /nothing is on the clipboard/)
  })

  it('sees that there is nothing', async () => {
    const run = (item: string) =>
      withClipboard((clipboard) => replay(scenarioOf(`${ASK}current ${item}\n`), clipboard))
    await run('nothing')
    await assert.rejects(run('Text hello'), /there is an item/)
  })
})

describe('checkAnswer()', () => {
  const answer: Answer = {
    status: 200,
    headers: { 'content-type': 'application/json', etag: '"1"' },
    body: Buffer.from('{"type":"Text","list":[{"a":1,"b":2}],"none":null}'),
  }

  /** The exchange whose answer must be this. */
  function wanted(statuses: string, line = ''): Exchange {
    const exchange = scenarioOf(`>>>\nGET / HTTP/1.1\n\n<<< ${statuses}\n${line}\n`).steps.at(-1)
    assert.ok(exchange?.kind === 'exchange', 'there is one exchange')
    return exchange
  }

  it('accepts what fits', () => {
    for (const line of [
      '',
      'Content-Type: application/json',
      'ETag: *',
      'no Location',
      'without contentId',
      'json {"type":"Text"}',
      'json {"list":[{"a":1}]}',
      'json {"none":null}',
      'body {"type":"Text","list":[{"a":1,"b":2}],"none":null}',
    ]) {
      checkAnswer(wanted('2xx 404', line), answer, new Map())
    }
    const unchanged = { ...answer, status: 304, body: Buffer.alloc(0) }
    checkAnswer(wanted('304', 'empty'), unchanged, new Map())
  })

  it('refuses what does not', () => {
    for (const statuses of ['201', '3xx 404', '5xx']) {
      const check = () => checkAnswer(wanted(statuses), answer, new Map())
      assert.throws(check, /the answer is 200, not/, statuses)
    }
    for (const line of [
      'Content-Type: text/plain',
      'Location: *',
      'no ETag',
      'without type',
      'empty',
      'body {}',
      'json {"type":"text"}',
      'json {"size":1}',
      'json {"list":[]}',
      'json {"list":[{"a":2}]}',
      'json {"list":{"a":1}}',
      'json {"none":{}}',
      'json []',
      'json null',
      'json {"type":null}',
      'json {no',
      'json {"toString":{}}',
    ]) {
      const check = () => checkAnswer(wanted('200', line), answer, new Map())
      assert.throws(check, /^Error: line 6: /, line)
    }
  })

  it('keeps what a later request needs', () => {
    const keep = (source: string) => {
      const lines = `>>>\nGET / HTTP/1.1\n\n<<< 200\nkeep it = ${source}\n\nsame it it\n`
      const [exchange] = scenarioOf(lines).steps
      assert.ok(exchange?.kind === 'exchange', 'there is one exchange')
      return String(checkAnswer(exchange, answer, new Map()).get('it'))
    }
    assert.equal(keep('header ETag'), '"1"')
    assert.equal(keep('json type'), 'Text')
    assert.equal(keep('body'), answer.body.toString())
    assert.throws(() => keep('json size'), /there is no size/)
    assert.throws(() => keep('header Location'), /there is no Location/)
  })
})

describe('deliverInPieces()', () => {
  it('sends every byte, in several pieces', async (t) => {
    const pieces: Buffer[] = []
    const server = createServer((socket) => socket.on('data', (piece) => pieces.push(piece)))
    const client = await RawClient.connect(await listen(t, server))
    t.after(() => client.close())
    await deliverInPieces([3, 25, 1])(client, Buffer.from('0123456789'))
    await deliverInPieces([3])(client, Buffer.alloc(0))
    const text = () => Buffer.concat(pieces).toString()
    while (text().length < 10) await setImmediate()
    assert.equal(text(), '0123456789')
    assert.ok(pieces.length > 1, 'a network that joins everything would prove nothing')
  })
})
