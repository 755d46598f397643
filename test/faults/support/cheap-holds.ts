/**
 * What a paired device can hold on to, of what it shares with others, and hardly pays for: a table.
 *
 * Each row goes on until its connections are closed.
 * @module
 */

import assert from 'node:assert/strict'
import type { RawClient } from '../../support/raw-http.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** What the daemon of these rows is started with. */
const QUOTA_BYTES = 64 * MIB
export const HOLD_ARGS: readonly string[] = [
  '--staging-quota-bytes',
  '64MiB',
  '--max-connections',
  '400',
]

/** An item that takes long to read. */
const LARGE = { dataName: 'large.bin', size: 48 * MIB } as const

/** The device that takes what it can. */
export interface GreedyDevice {
  readonly authorization: string
  /** A connection that stays open. */
  connect(): Promise<RawClient>
}

export interface CheapHold {
  readonly name: string
  begin(device: GreedyDevice): Promise<void>
}

/** In the order in which they can be piled up. */
export const CHEAP_HOLDS: readonly CheapHold[] = [
  {
    name: 'uploads that were announced and do not come',
    begin: (device) =>
      many(2, async (index) => {
        const head = formatRequest(device, `PUT /file/announced-${index}`, QUOTA_BYTES - 4 * MIB)
        await sendSome(device, head + 'x'.repeat(100))
      }),
  },
  {
    name: 'records of a long text that nobody reads',
    begin: async (device) => {
      const client = await device.connect()
      const document = JSON.stringify({ type: 'Text', text: 'x'.repeat(4 * MIB) })
      client.send(formatRequest(device, 'PUT /Sync.json', document.length) + document)
      assert.equal((await client.read()).status, 200)
      const { hash } = JSON.parse(
        (await client.send(formatRequest(device, 'GET /Sync.json')).read()).body,
      )
      await many(10, () => stall(device, formatRequest(device, `GET /api/history/Text-${hash}`)))
    },
  },
  {
    name: 'documents that were announced and do not come',
    begin: (device) =>
      many(4, (index) => {
        const head = formatRequest(device, 'PUT /Sync.json', 16 * MIB - index)
        return sendSome(device, `${head}{"type":"Text","text":"${'x'.repeat(100)}`)
      }),
  },
  {
    name: 'documents that do not end',
    begin: (device) =>
      many(4, () => {
        const head = formatRequest(device, 'PUT /Sync.json', 'Transfer-Encoding: chunked')
        return sendSome(device, `${head}${MIB.toString(16)}\r\n${'x'.repeat(MIB)}\r\n`)
      }),
  },
  {
    name: 'forms that stand still, in a field and in a file',
    begin: (device) =>
      many(16, (index) => {
        const type = 'Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked'
        const what = index % 2 === 0 ? 'name="text"' : 'name="data"; filename="a"'
        const part = `--b\r\nContent-Disposition: form-data; ${what}\r\n\r\n${'x'.repeat(256 * KIB)}`
        const head = formatRequest(device, 'POST /api/history', type)
        return sendSome(device, `${head}${part.length.toString(16)}\r\n${part}\r\n`)
      }),
  },
  {
    name: 'forms of which the file is whole, and what follows it does not come',
    begin: (device) =>
      many(2, async () => {
        const parts = ['name="data"; filename="a"', 'name="text"'].map((name, index) => {
          const content = index === 0 ? 'x'.repeat(QUOTA_BYTES / 2 - MIB) : 'x'
          return `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${content}`
        })
        const type = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${QUOTA_BYTES}`
        await sendSome(
          device,
          formatRequest(device, 'POST /api/history', type) + parts.join('\r\n'),
        )
      }),
  },
  {
    name: 'uploads that stand still just before a batch is written',
    begin: (device) =>
      many(16, (index) => {
        const head = formatRequest(device, `PUT /file/still-${index}`, MIB)
        return sendSome(device, head + 'x'.repeat(500 * KIB))
      }),
  },
  {
    name: 'downloads that nobody reads',
    begin: async (device) => {
      await pushLarge(device)
      await many(100, () => stall(device, formatRequest(device, `GET /file/${LARGE.dataName}`)))
    },
  },
  {
    name: 'downloads that were asked for in advance, and nobody reads',
    begin: async (device) => {
      await pushLarge(device)
      const request = formatRequest(device, `GET /file/${LARGE.dataName}`)
      await many(10, () => stall(device, request.repeat(16)))
    },
  },
  {
    name: 'event streams that nobody reads',
    begin: (device) =>
      many(6, () => stall(device, formatRequest(device, 'GET /api/sse/clipboard'))),
  },
  {
    name: 'documents that name a large picture by a wrong hash',
    begin: async (device) => {
      await pushLarge(device)
      await many(40, (index) => {
        const hash = index.toString(16).padStart(32, '0')
        return push(device, { type: 'File', dataName: LARGE.dataName, hasData: true, hash })
      })
    },
  },
  {
    name: 'the same push, again and again',
    begin: async (device) => {
      await pushLarge(device)
      await many(40, () => push(device, { type: 'File', dataName: LARGE.dataName, hasData: true }))
    },
  },
  {
    name: 'uploads that are complete and never named',
    begin: (device) =>
      many(4, async (index) => {
        const client = await device.connect()
        const size = QUOTA_BYTES / 4 - MIB
        client.send(formatRequest(device, `PUT /file/unnamed-${index}`, size) + 'x'.repeat(size))
        assert.equal((await client.read()).status, 200)
      }),
  },
  {
    name: 'every connection that there is, with an answer owed on each',
    begin: (device) =>
      many(420, async (index) => {
        const client = await device.connect()
        client.send(formatRequest(device, `PUT /file/owed-${index}`, 10))
      }),
  },
]

/** The beginning of a request, with a body of this length or with other headers. */
export function formatRequest(
  { authorization }: Pick<GreedyDevice, 'authorization'>,
  line: string,
  body: number | string = '',
): string {
  const more = typeof body === 'number' ? `Content-Length: ${body}` : body
  const lines = [`${line} HTTP/1.1`, 'Host: box', `Authorization: ${authorization}`]
  return [...lines, ...(more === '' ? [] : [more]), '', ''].join('\r\n')
}

async function many(count: number, begin: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < count; index++) await begin(index)
}

/** Makes a large file the current item. */
async function pushLarge(device: GreedyDevice): Promise<void> {
  const { dataName, size } = LARGE
  const item = JSON.stringify({ type: 'File', dataName, hasData: true })
  const client = await device.connect()
  client.send(formatRequest(device, `PUT /file/${dataName}`, size) + 'x'.repeat(size))
  assert.equal((await client.read()).status, 200)
  client.send(formatRequest(device, 'PUT /Sync.json', item.length) + item)
  assert.equal((await client.read()).status, 200)
  client.close()
}

/** Sends it, and sees to it that it has come, or that there was no room for it. */
async function sendSome(device: GreedyDevice, text: string): Promise<void> {
  const client = await device.connect()
  await new Promise((resolve) => {
    client.socket.once('data', resolve).write(text, 'latin1', resolve)
  })
  const other = await device.connect()
  await other.send(formatRequest(device, 'GET /')).read()
  other.close()
}

/** Asks, and reads no more than the first bytes of the answer. */
async function stall(device: GreedyDevice, text: string): Promise<void> {
  const client = await device.connect()
  await client.send(text).readUntil('\r\n')
  client.socket.pause()
}

/** Does not wait for the answer. */
async function push(device: GreedyDevice, document: object): Promise<void> {
  const body = JSON.stringify(document)
  const client = await device.connect()
  client.send(formatRequest(device, 'PUT /Sync.json', body.length) + body)
}
