import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openEvents } from '../support/event-reader.ts'
import { HANDSHAKE, HUB_FAREWELL, HubClient, hubHead } from '../support/hub-client.ts'
import { serveGuarded } from '../support/guarded-gateway.ts'
import { clientFrame } from '../support/websocket-frames.ts'

const SHA_256_OF_HELLO = '2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824'

/** More than the buffers of a connection take. */
const LONG = 'x'.repeat(8 * 1024 * 1024)

/** Far more than any client sends at once. */
const PONGS = Buffer.concat(Array<Buffer>(32 * 1024).fill(clientFrame(0xa, Buffer.of())))

/** Reads up to the answer to a ping. */
async function nextPong(client: HubClient): Promise<void> {
  while ((await client.frame()).opcode !== 'pong');
}

async function serve(t: TestContext) {
  const served = await serveGuarded(t)
  const negotiate = async (query: string): Promise<Record<string, unknown>> => {
    const answer = await served.phone.fetch(`/SyncClipboardHub/negotiate${query}`, {
      method: 'POST',
    })
    assert.equal(answer.status, 200)
    // The body is an object.
    return (await answer.json()) as Record<string, unknown>
  }
  return { ...served, negotiate }
}

describe('POST /SyncClipboardHub/negotiate', () => {
  const transports = [{ transport: 'WebSockets', transferFormats: ['Text', 'Binary'] }]

  for (const query of ['?negotiateVersion=1', '?negotiateVersion=7']) {
    // Protocol: 1 or more
    it(`gives an id and a token for ${query}`, async (t) => {
      const { negotiate } = await serve(t)
      const { connectionId, connectionToken, ...rest } = await negotiate(query)
      assert.deepEqual(rest, { negotiateVersion: 1, availableTransports: transports })
      assert.match(String(connectionId), /^[\w-]{22}$/)
      assert.match(String(connectionToken), /^[\w-]{22}\.[\w-]{43}$/)
    })
  }

  for (const query of ['', '?negotiateVersion=0', '?negotiateVersion=-1']) {
    // Protocol: missing, or less than 1
    it(`gives an id that is a token for ${query || 'no version'}`, async (t) => {
      const served = await serve(t)
      const { connectionId, ...rest } = await served.negotiate(query)
      assert.deepEqual(rest, { negotiateVersion: 0, availableTransports: transports })
      await HubClient.open(t, served, `?id=${connectionId}`)
    })
  }

  // Protocol: not an integer
  it('names what is wrong with a version that is no integer', async (t) => {
    const { negotiate } = await serve(t)
    for (const version of ['one', '1.5']) {
      // It quotes nothing of the request.
      const error = 'The client requested an invalid protocol version'
      assert.deepEqual(await negotiate(`?negotiateVersion=${version}`), { error })
    }
  })
})

describe('GET /SyncClipboardHub', () => {
  // Protocol: no extension and no subprotocol is agreed on
  it('agrees on no extension and no subprotocol', async (t) => {
    const { port, authorization } = await serve(t)
    const offers = ['Sec-WebSocket-Extensions: permessage-deflate', 'Sec-WebSocket-Protocol: x']
    const { headers } = await HubClient.refused(t, port, hubHead(authorization, '', offers))
    const own = Object.keys(headers).filter((name) => name.startsWith('sec-'))
    assert.deepEqual(own, ['sec-websocket-accept'])
  })

  it('tells all clients of each change, the pushing one too: the record, then the document', async (t) => {
    const served = await serve(t)
    const other = await served.addPhone()
    const clients = [
      await HubClient.open(t, served),
      await HubClient.open(t, { ...served, authorization: other.authorization }),
    ]
    await served.phone.pushText('hello')
    const at = new Date(served.clock.now()).toISOString()
    const { contentId } = await served.phone.document()
    const item = { type: 'Text', text: 'hello', hasData: false, size: 5, hash: SHA_256_OF_HELLO }
    const times = { createTime: at, lastModified: at, lastAccessed: at }
    const flags = { starred: false, pinned: false, version: 0, isDeleted: false }
    for (const client of clients) {
      assert.deepEqual(await client.hear(), [
        { type: 1, target: 'RemoteHistoryChanged', arguments: [{ ...item, ...times, ...flags }] },
        {
          type: 1,
          target: 'RemoteProfileChanged',
          arguments: [{ ...item, contentId, dataName: null }],
        },
      ])
    }
  })

  it('names the bytes of a file as clients of the hub ask for them', async (t) => {
    const served = await serve(t)
    const client = await HubClient.open(t, served)
    await served.phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
    const [, change] = await client.hear()
    // A record of the shape that the test before this one compares.
    const {
      arguments: [document],
    } = change as { arguments: [Record<string, unknown>] }
    assert.deepEqual([document['dataName'], document['hasData']], ['a.bin', true])
    const data = await served.phone.fetch(`/api/history/File-${document['hash']}/data`)
    assert.equal(await data.text(), 'bytes')
  })

  it('tells once of a push that comes as a record and then as a document, and again of the next', async (t) => {
    const served = await serve(t)
    const client = await HubClient.open(t, served)
    const headers = { 'User-Agent': 'SyncClipboard.WinUI3.2.0' }
    const fields = { type: 'Text', text: 'hello', hash: SHA_256_OF_HELLO, hasData: 'false' }
    const push = async (path: string, method: string, body: string | URLSearchParams) => {
      const answer = await served.phone.fetch(path, { method, body, headers })
      assert.equal(answer.status, 200)
      served.clock.advance(1000)
    }
    const document = JSON.stringify({ ...fields, hasData: false })
    await push('/api/history', 'POST', new URLSearchParams(fields))
    await push('/SyncClipboard.json', 'PUT', document)
    await push('/SyncClipboard.json', 'PUT', document)
    await served.phone.pushText('the end')
    const told = []
    for (let text = ''; text !== 'the end'; told.push(text)) {
      const [, change] = await client.hear()
      const { arguments: arguments_ } = change as { arguments: [{ text: string }] }
      text = arguments_[0].text
    }
    assert.deepEqual(told, ['hello', 'hello', 'the end'])
  })

  it('reads records in binary messages, in which Microsoft’s library for Java sends them', async (t) => {
    const served = await serve(t)
    const client = await HubClient.connect(t, served)
    client.send(clientFrame(0x2, Buffer.from(`${HANDSHAKE}\u001e`)))
    assert.deepEqual(await client.hear(), [{}])
    client.send(clientFrame(0x2, Buffer.from('{"type":7}\u001e')))
    assert.equal(await client.end(), 1000)
  })

  // Protocol: hears of all that is activated from then on
  it('tells nothing before the client has said what it speaks', async (t) => {
    const served = await serve(t)
    const client = await HubClient.connect(t, served)
    await served.phone.pushText('too early')
    client.say(HANDSHAKE)
    assert.deepEqual(await client.hear(), [{}])
    await served.phone.pushText('in time')
    assert.equal((await client.hear()).length, 2)
  })

  for (const record of [
    '{"protocol":"messagepack","version":1}',
    '{"protocol":"json","version":2}',
    '{}',
  ]) {
    // Protocol: the first record asks for something else
    it(`ends a connection that begins with ${record}, and says why`, async (t) => {
      const served = await serve(t)
      const client = await HubClient.connect(t, served)
      client.say(record)
      const [answer] = await client.hear()
      assert.deepEqual(Object.keys(answer as object), ['error'])
      assert.equal(await client.end(), 1008)
      assert.equal(served.gateway.countStreams(served.device.id), 0)
    })
  }

  for (const [what, bytes, code] of [
    ['a record that is not JSON', clientFrame(0x1, Buffer.from('nonsense\u001e')), 1007],
    ['a record that does not end', clientFrame(0x1, Buffer.from(HANDSHAKE)), 1007],
    ['a record that is no object', clientFrame(0x1, Buffer.from('1\u001e')), 1007],
    ['a record that is an array', clientFrame(0x1, Buffer.from('[]\u001e')), 1007],
    ['a binary message that is not UTF-8', clientFrame(0x2, Buffer.of(0xff)), 1007],
    ['a frame of a gigabyte', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0]), 1009],
    ['a message that is too long by a byte', Buffer.from([0x81, 0xfe, 0x80, 0x01]), 1009],
    ['a frame without a mask', Buffer.from([0x81, 1, 0x78]), 1002],
    ['a frame with a reserved bit', Buffer.from([0xc1]), 1002],
    ['a ping in fragments', Buffer.from([0x09]), 1002],
    ['a ping of 126 bytes', Buffer.from([0x89, 0xfe]), 1002],
    ['a length that is longer than it needs to be', Buffer.from([0x81, 0xfe, 0, 1]), 1002],
  ] as const) {
    // Protocol: a frame breaks RFC 6455
    // Protocol: or does not end
    // Protocol: a message is too long
    it(`ends a connection that sends ${what}, with the code ${code}`, async (t) => {
      const served = await serve(t)
      for (const open of [HubClient.connect, HubClient.open]) {
        const client = await open(t, served)
        client.send(bytes)
        assert.equal(await client.end(), code)
      }
      assert.equal(served.gateway.countStreams(served.device.id), 0)
    })
  }

  it('answers pings and calls of methods, and nothing else that a client may send', async (t) => {
    const served = await serve(t)
    const client = await HubClient.open(t, served)
    client.say('{"type":6}')
    client.say('{"type":1,"target":"Nope","arguments":[]}')
    client.send(clientFrame(0xa, Buffer.from('unasked')))
    client.send(clientFrame(0x9, Buffer.from('hi')))
    assert.deepEqual(await client.frame(), { opcode: 'pong', payload: Buffer.from('hi') })
    client.say('{"type":1,"invocationId":"7","target":"Nope","arguments":[]}')
    const [answer] = await client.hear()
    assert.deepEqual(answer, { type: 3, invocationId: '7', error: 'The hub has no methods.' })
  })

  it('answers all that comes at once, whatever comes in between', async (t) => {
    const served = await serve(t)
    const client = await HubClient.connect(t, served)
    const ping = clientFrame(0x9, Buffer.from('hi'))
    const call = (id: number) =>
      clientFrame(0x1, Buffer.from(`{"type":1,"invocationId":"${id}","target":"Nope"}\u001e`))
    const handshake = clientFrame(0x1, Buffer.from(`${HANDSHAKE}\u001e`))
    client.send(Buffer.concat([ping, handshake, ping, call(1), call(2), ping]))
    assert.equal((await client.frame()).opcode, 'pong')
    assert.deepEqual(await client.hear(), [{}])
    assert.equal((await client.frame()).opcode, 'pong')
    for (const invocationId of ['1', '2']) {
      const [answer] = await client.hear()
      assert.deepEqual(answer, { type: 3, invocationId, error: 'The hub has no methods.' })
    }
    assert.equal((await client.frame()).opcode, 'pong')
  })

  it('ends the connection of a client that asks and does not read the answers', async (t) => {
    const served = await serve(t)
    const client = await HubClient.open(t, served)
    client.raw.socket.pause()
    await served.phone.pushText(LONG)
    const call = clientFrame(0x1, Buffer.from('{"type":1,"invocationId":"1"}\u001e'))
    const closed = new Promise((resolve) => client.raw.socket.once('close', resolve))
    // Each answer is twice as long.
    client.send(Buffer.concat(Array<Buffer>(1500).fill(call)))
    while (served.gateway.countStreams(served.device.id) > 0) await served.phone.document()
    client.raw.socket.resume()
    await closed
  })

  // Protocol: All connections of a device together may send 64 KiB at once
  it('reads 64 KiB of a device at once and 16 KiB a second behind it, on all its connections together', async (t) => {
    const served = await serve(t)
    const { clock, phone } = served
    const other = await served.addPhone()
    const [flooding, calm, foreign] = [
      await HubClient.open(t, served),
      await HubClient.open(t, served),
      await HubClient.open(t, { ...served, authorization: other.authorization }),
    ]
    flooding.send(PONGS)
    // By the time that somebody else is answered they have come.
    await phone.document()
    for (const client of [flooding, calm, foreign]) client.send(clientFrame(0x9, Buffer.of(1)))
    assert.equal((await foreign.frame()).opcode, 'pong')
    await phone.pushText('meanwhile')
    for (const client of [flooding, calm, foreign]) {
      assert.equal((await client.hear()).length, 2, 'it hears of changes, and before its pong')
    }
    let seconds = 0
    const answered = Promise.all([nextPong(flooding), nextPong(calm)])
    const isAnswered = answered.then(() => true)
    while (!(await Promise.race([isAnswered, phone.document().then(() => false)]))) {
      clock.advance(1000)
      seconds++
    }
    // The last read may take more than there is.
    const earned = (PONGS.length - 2 * 64 * 1024) / (16 * 1024)
    assert.ok(seconds >= earned && seconds < 30, `${seconds} s`)
    assert.equal(served.gateway.countStreams(served.device.id), 2)
    assert.deepEqual(
      served.logger.lines.filter(({ level }) => level === 'warn'),
      [],
    )
  })

  // Protocol: a device that keeps sending more for 30 s
  it('ends the connection that keeps sending too much for 30 s, and says so once', async (t) => {
    const served = await serve(t)
    const { clock, phone, device, logger } = served
    const calm = await HubClient.open(t, served)
    for (let round = 0; round < 2; round++) {
      const flooding = await HubClient.open(t, served)
      let seconds = 0
      for (; served.gateway.countStreams(device.id) === 2; seconds++) {
        flooding.send(PONGS)
        await phone.document()
        clock.advance(1000)
        await phone.document()
      }
      // The second one begins with what the first one has left.
      assert.ok(seconds >= (round === 0 ? 30 : 1), `${seconds} s`)
      while (await flooding.frame().then(({ opcode }) => opcode !== 'close'));
      clock.advance(30_000)
    }
    const said = logger.lines.filter(({ level }) => level === 'warn')
    assert.deepEqual(
      said.map(({ fields }) => fields),
      [{ device: device.id }],
    )
    await phone.pushText('after')
    while ((await calm.hear()).length !== 2);
  })

  // Protocol: A client that says nothing for 30 s is gone
  it('pings, and ends the connection of a client that is silent for 30 s', async (t) => {
    const served = await serve(t)
    const { clock } = served
    const [lively, silent] = [await HubClient.open(t, served), await HubClient.open(t, served)]
    for (let beats = 0; beats < 2; beats++) {
      clock.advance(12_500)
      for (const client of [lively, silent]) assert.deepEqual(await client.hear(), [{ type: 6 }])
      lively.send(clientFrame(0x9, Buffer.alloc(0)))
      await lively.frame()
    }
    clock.advance(12_500)
    assert.deepEqual(await silent.hear(), [HUB_FAREWELL])
    assert.equal(await silent.end(), 1001)
    assert.deepEqual(await lively.hear(), [{ type: 6 }])
    assert.equal(served.gateway.countStreams(served.device.id), 1)
  })

  it('ends the connection of a client that never says what it speaks', async (t) => {
    const served = await serve(t)
    const client = await HubClient.connect(t, served)
    client.send(clientFrame(0x9, Buffer.alloc(0)))
    await client.frame()
    served.clock.advance(25_000)
    assert.deepEqual(await client.hear(), [HUB_FAREWELL])
    assert.equal(await client.end(), 1001)
    assert.equal(served.clock.pending, 0)
  })

  for (const say of [
    (client: HubClient) => client.say('{"type":7}'),
    (client: HubClient) => client.send(clientFrame(0x8, Buffer.from([0x03, 0xe8]))),
  ]) {
    // Protocol: the client has left
    it(`ends with a client that says goodbye: ${say}`, async (t) => {
      const served = await serve(t)
      const client = await HubClient.open(t, served)
      say(client)
      assert.equal(await client.end(), 1000)
      assert.equal(served.gateway.countStreams(served.device.id), 0)
    })
  }

  for (const change of ['rotate', 'revoke'] as const) {
    // Protocol: A connection ends for the reasons for which event streams do
    // Protocol: its credentials went
    it(`says goodbye and ends in the tick of a ${change}`, async (t) => {
      const served = await serve(t)
      const client = await HubClient.open(t, served)
      const idle = await HubClient.connect(t, served)
      const { id } = served.device
      const open: number[] = []
      served.devices.onCredentialGone(() => open.push(served.gateway.countStreams(id)))
      await served.devices[change](id)
      assert.deepEqual(open, [0])
      for (const one of [client, idle]) {
        assert.deepEqual(await one.hear(), [HUB_FAREWELL])
        assert.equal(await one.end(), 1001)
      }
    })
  }

  // Protocol: Sixteen connections for each device, beside its event streams
  it('keeps sixteen connections of a device beside its event streams: one more ends the oldest', async (t) => {
    const served = await serve(t)
    const { gateway, device, phone, clock } = served
    const stream = await openEvents(t, served.url, served.authorization)
    await stream.next()
    const { authorization } = await served.addPhone()
    const other = await HubClient.open(t, { port: served.port, authorization })
    const clients: HubClient[] = []
    while (clients.length < 16) clients.push(await HubClient.open(t, served))
    const said = () => served.logger.lines.filter(({ level }) => level === 'warn')
    assert.deepEqual([gateway.countStreams(device.id), said()], [17, []])
    clients.push(await HubClient.open(t, served))
    assert.deepEqual(await clients[0]?.hear(), [HUB_FAREWELL])
    assert.equal(await clients[0]?.end(), 1001)
    assert.equal(gateway.countStreams(device.id), 17)
    await phone.pushText('hello')
    for (const client of [...clients.slice(1), other]) assert.equal((await client.hear()).length, 2)
    const frame = await stream.next()
    assert.equal(frame !== undefined && 'event' in frame && frame.event, 'update')

    // Programs that put each other out come again at once.
    for (let round = 0; round < 3; round++) await HubClient.open(t, served)
    assert.deepEqual(
      said().map(({ fields }) => fields),
      [{ device: device.id, limit: 16 }],
    )
    clock.advance(10 * 60_000)
    for (let count = 0; count < 17; count++) await HubClient.open(t, served)
    assert.equal(said().length, 2)
  })

  // Protocol: with any other `id`
  // Protocol: with the token of a connection that is open
  it('opens each token once at a time, for the device that got it', async (t) => {
    const served = await serve(t)
    const { connectionToken } = await served.negotiate('?negotiateVersion=1')
    const query = `?id=${connectionToken}`
    const ask = async (authorization: string, wanted: string) => {
      const { status, body } = await HubClient.refused(
        t,
        served.port,
        hubHead(authorization, wanted),
      )
      return [status, JSON.parse(body).code]
    }
    const other = await served.addPhone()
    assert.deepEqual(await ask(other.authorization, query), [404, 'NOT_FOUND'])
    for (const unknown of ['', 'x', `${connectionToken}x`, 'A'.repeat(43)]) {
      assert.deepEqual(await ask(served.authorization, `?id=${unknown}`), [404, 'NOT_FOUND'])
    }
    const client = await HubClient.open(t, served, query)
    assert.deepEqual(await ask(served.authorization, query), [409, 'CONFLICT'])
    client.say('{"type":7}')
    await client.end()
    await HubClient.open(t, served, query)
  })

  for (const [what, head, expected] of [
    ['a stranger', hubHead('Basic eDp5'), [401, 'UNAUTHORIZED']],
    [
      'a page of another site',
      hubHead('own', '', ['Origin: https://evil.example']),
      [403, 'FORBIDDEN_ORIGIN'],
    ],
    [
      'an old version',
      hubHead('own').replace('Version: 13', 'Version: 8'),
      [426, 'UPGRADE_REQUIRED'],
    ],
    ['a bad key', hubHead('own').replace('dGhl', ''), [400, 'BAD_REQUEST']],
    [
      'no WebSocket',
      hubHead('own').replace('Upgrade: websocket', 'Upgrade: h2c'),
      [426, 'UPGRADE_REQUIRED'],
    ],
    ['HTTP/1.0', hubHead('own').replace('HTTP/1.1', 'HTTP/1.0'), [426, 'UPGRADE_REQUIRED']],
  ] as const) {
    // Protocol: for no WebSocket, or in HTTP/1.0
    // Protocol: for a WebSocket of another version
    it(`refuses ${what}`, async (t) => {
      const served = await serve(t)
      const own = head.replace('Authorization: own', `Authorization: ${served.authorization}`)
      const { status, body, headers } = await HubClient.refused(t, served.port, own)
      assert.deepEqual([status, JSON.parse(body).code], expected)
      const wanted = what === 'an old version' ? '13' : undefined
      assert.equal(headers['sec-websocket-version'], wanted)
    })
  }

  // Protocol: A reader that does not drain costs one pending change
  it('keeps the newest change for a client that does not read, and leaves out the others', async (t) => {
    const served = await serve(t)
    const client = await HubClient.open(t, served)
    client.raw.socket.pause()
    await served.phone.pushText(`first${LONG}`)
    for (const text of ['second', 'third', 'newest']) await served.phone.pushText(text)
    client.raw.socket.resume()
    const texts: string[] = []
    while (texts.at(-1) !== 'newe') {
      const [record] = await client.hear()
      texts.push((record as { arguments: [{ text: string }] }).arguments[0].text.slice(0, 4))
    }
    assert.deepEqual(texts, ['firs', 'newe'])
  })

  // Protocol: it would have to pull in any case
  it('lets go of a client that has not read a long change when the next one comes', async (t) => {
    const served = await serve(t)
    const slow = await HubClient.open(t, served)
    const quick = await HubClient.open(t, served)
    slow.raw.socket.pause()
    for (const text of ['first', 'second']) {
      await served.phone.pushText(text + LONG)
      assert.equal((await quick.hear()).length, 2)
    }
    assert.equal(served.gateway.countStreams(served.device.id), 1)
    const closed = new Promise((resolve) => slow.raw.socket.once('close', resolve))
    slow.raw.socket.resume()
    await closed
  })
})
