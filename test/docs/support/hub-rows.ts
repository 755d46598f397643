/**
 * docs/protocol.md about the message hub, row by row.
 * @module
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { HANDSHAKE, HubClient, hubHead } from '../../support/hub-client.ts'
import { clientFrame } from '../../support/websocket-frames.ts'
import { codeIn } from './answer-check.ts'
import type { RowCheck } from './row-check.ts'
import { openStation, type Station } from './station.ts'

interface Negotiated {
  readonly negotiateVersion?: number
  readonly connectionId?: string
  readonly connectionToken?: string
}

/** The JSON of an answer to a negotiation. */
async function negotiate({ ask }: Station, query: string) {
  const answer = await ask({ method: 'POST', target: `/SyncClipboardHub/negotiate${query}` })
  assert.equal(answer.status, 200)
  // The row of the page about it, which is a test too, says so.
  return JSON.parse(answer.body) as Negotiated
}

/** Shows that these queries are answered with what stands in code, whatever the ids are. */
function negotiates(...queries: readonly string[]): RowCheck {
  return async (t, [, answer = '']) => {
    const at = await openStation(t)
    const sample: object = JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? '')
    for (const query of queries) {
      const said = await negotiate(at, query)
      const ids = Object.fromEntries(
        Object.entries(said).filter(([, value]) => typeof value === 'string'),
      )
      assert.deepEqual({ ...sample, ...ids }, said)
    }
  }
}

export const NEGOTIATE_ROWS: Readonly<Record<string, RowCheck>> = {
  '1 or more': negotiates('?negotiateVersion=1', '?negotiateVersion=7'),
  'missing, or less than 1': async (t) => {
    const at = await openStation(t)
    for (const query of ['', '?negotiateVersion=0', '?negotiateVersion=-1']) {
      const { negotiateVersion, connectionId, connectionToken } = await negotiate(at, query)
      assert.deepEqual([negotiateVersion, connectionToken], [0, undefined])
      await HubClient.connect(t, at, `?id=${connectionId}`)
    }
  },
  'not an integer': negotiates('?negotiateVersion=one', '?negotiateVersion=1.5'),
}

/** Shows that the hub refuses a request for a WebSocket with the words in code of the row. */
function refuses(
  ...heads: readonly ((at: Station, t: TestContext) => Promise<string> | string)[]
): RowCheck {
  return async (t, [, expected = '']) => {
    for (const headOf of heads) {
      const at = await openStation(t)
      const head = await headOf(at, t)
      const answer = await HubClient.refused(t, at.port, head)
      const [, status, , code = 'NOT_FOUND', , name, value] =
        /^(\d+)(, `(\w+)`)?(, with `([\w-]+): (\w+)`)?$/.exec(expected) ?? []
      assert.deepEqual([answer.status, codeIn(answer)], [Number(status), code])
      if (name !== undefined) assert.equal(answer.headers[name.toLowerCase()], value)
    }
  }
}

export const CONNECT_ROWS: Readonly<Record<string, RowCheck>> = {
  'for a WebSocket of version 13, without id in the query or with a token that its device was given here':
    async (t) => {
      const at = await openStation(t)
      const { connectionToken } = await negotiate(at, '?negotiateVersion=1')
      for (const query of ['', `?id=${connectionToken}`]) {
        const offers = ['Sec-WebSocket-Extensions: permessage-deflate', 'Sec-WebSocket-Protocol: x']
        const client = await HubClient.connect(t, at, query)
        client.say(HANDSHAKE)
        assert.deepEqual(await client.hear(), [{}])
        const head = hubHead(at.authorization, '', offers)
        const { headers } = await HubClient.refused(t, at.port, head)
        assert.deepEqual(
          Object.keys(headers).filter((name) => name.startsWith('sec-')),
          ['sec-websocket-accept'],
        )
      }
    },
  'with any other id': refuses(({ authorization }) => hubHead(authorization, '?id=x')),
  'with the token of a connection that is open': refuses(async (at, t) => {
    const query = `?id=${(await negotiate(at, '')).connectionId}`
    await HubClient.connect(t, at, query)
    return hubHead(at.authorization, query)
  }),
  'for no WebSocket, or in HTTP/1.0, as it comes out of a proxy that does not pass Upgrade':
    refuses(
      ({ authorization }) =>
        hubHead(authorization).replace(/Connection: Upgrade\r\nUpgrade: websocket\r\n/, ''),
      ({ authorization }) => hubHead(authorization).replace('HTTP/1.1', 'HTTP/1.0'),
    ),
  'for a WebSocket of another version': refuses(({ authorization }) =>
    hubHead(authorization).replace('Version: 13', 'Version: 8'),
  ),
}

/** Shows with which code a connection ends, for each of these doings of a client. */
function closes(...acts: readonly ((client: HubClient, at: Station) => unknown)[]): RowCheck {
  return async (t, [code]) => {
    for (const act of acts) {
      const at = await openStation(t)
      const client = await HubClient.connect(t, at)
      await act(client, at)
      let frame = await client.frame()
      while (frame.opcode === 'text') frame = await client.frame()
      assert.deepEqual([frame.opcode, frame.payload.readUInt16BE()], ['close', Number(code)])
    }
  }
}

/** Sends a frame of this opcode, behind the handshake. */
function sends(opcode: number, payload: string | Uint8Array): (client: HubClient) => void {
  return (client) => {
    client.say(HANDSHAKE)
    client.send(clientFrame(opcode, Buffer.from(payload)))
  }
}

const [TEXT, CLOSE, PING] = [0x1, 0x8, 0x9]

export const CLOSE_ROWS: Readonly<Record<string, RowCheck>> = {
  '1000': closes(sends(TEXT, '{"type":7}\u001e'), sends(CLOSE, Uint8Array.of(0x03, 0xe8))),
  '1001': closes(
    (_, { devices, device }) => devices.revoke(device.id),
    (_, { clock }) => clock.advance(60_000),
  ),
  '1002': closes(
    (client) => client.send(Uint8Array.of(0x81, 0x01, 0x78)),
    (client) => client.send(Uint8Array.of(0xc1)),
    (client) => client.send(Uint8Array.of(0x09)),
    (client) => client.send(Uint8Array.of(0x81, 0xfe, 0x00, 0x01)),
    sends(PING, 'x'.repeat(126)),
  ),
  '1007': closes(
    sends(TEXT, Uint8Array.of(0xff)),
    sends(TEXT, 'nonsense\u001e'),
    sends(TEXT, '[]'),
  ),
  '1008': closes((client) => client.say('{"protocol":"messagepack","version":1}')),
  '1009': closes(sends(TEXT, 'x'.repeat(32 * 1024 + 1))),
}
