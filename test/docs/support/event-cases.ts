/**
 * Requests for the event stream and the message hub of docs/openapi.yaml.
 * @module
 */

import { hubHead } from '../../support/hub-client.ts'
import { RawClient } from '../../support/raw-http.ts'
import { parseFrames } from './answer-check.ts'
import { casesOf, GROUP_TIME, withFields, type Case } from './case.ts'
import { readStream } from './read-stream.ts'
import type { Answer, RawRequest, Station } from './station.ts'

const HELLO = streaming(['hello'], () => {})

const WEB_SOCKET = ['Connection: Upgrade', 'Upgrade: websocket']
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
const HANDSHAKE = [...WEB_SOCKET, KEY, 'Sec-WebSocket-Version: 13']
const ASKING_FOR_A_WEB_SOCKET = withFields(...HANDSHAKE)

export const EVENT_CASES: readonly Case[] = [
  ...casesOf('headEvents', [[200, 'with the headers alone']]),
  ...casesOf('getEvents', [
    [200, 'with hello', HELLO],
    [200, 'to a phone that says what time it is', HELLO, withFields(GROUP_TIME)],
    [
      200,
      'with an update when an item was pushed',
      streaming(['hello', 'update'], ({ phone }) => phone.pushText('hello')),
    ],
    [
      200,
      'with a ping, which is a comment',
      streaming(['hello', 'update'], ({ phone, clock }) => {
        clock.advance(25_000)
        return phone.pushText('hello')
      }),
    ],
    [
      200,
      'with resync when the computer is paused',
      streaming(
        ['hello', 'update', 'update', 'update', 'resync'],
        ({ changes, changeComputer }) => {
          for (const digit of ['0', '1', '2']) {
            changes.publish({ contentId: `blake3v1:${digit.repeat(64)}`, activatedAt: 1 })
          }
          changeComputer({ isPaused: true })
        },
      ),
    ],
  ]),
  ...casesOf('connectToHub', [
    [101, 'without a token', ASKING_FOR_A_WEB_SOCKET],
    [
      'BAD_REQUEST',
      'with half a key',
      withFields(...WEB_SOCKET, 'Sec-WebSocket-Key: dGhl', 'Sec-WebSocket-Version: 13'),
    ],
    [
      'FORBIDDEN_ORIGIN',
      'from a page of another site',
      ASKING_FOR_A_WEB_SOCKET,
      withFields('Origin: https://evil.example'),
    ],
    ['NOT_FOUND', 'with a token that nobody gave', ASKING_FOR_A_WEB_SOCKET, { suffix: '?id=x' }],
    ['CONFLICT', 'with a token that is in use', { exchange: connectTwice }],
    ['UPGRADE_REQUIRED', 'without a wish for a WebSocket'],
    [
      'UPGRADE_REQUIRED',
      'with an old version',
      withFields(...WEB_SOCKET, KEY, 'Sec-WebSocket-Version: 8'),
    ],
  ]),
  ...casesOf('headHub', [['UPGRADE_REQUIRED', 'as it does without a wish for a WebSocket']]),
  ...casesOf('negotiateHub', [
    [200, 'with an id', { request: { body: '' } }],
    [200, 'with an id and a token', { suffix: '?negotiateVersion=1' }],
    [200, 'with what is wrong with the version', { suffix: '?negotiateVersion=one' }],
    [
      'BODY_TOO_LARGE',
      'with a long body',
      { options: { maxMetadataBytes: 1 }, request: { body: '<>' } },
    ],
  ]),
]

/** Connects with a token, and then with the same one. */
async function connectTwice(at: Station, request: RawRequest): Promise<Answer> {
  const [path = '', query = ''] = request.target.split('?')
  const negotiated = await at.ask({ method: 'POST', target: `${path}/negotiate` })
  const token = `?id=${JSON.parse(negotiated.body).connectionId}`
  const first = await RawClient.connect(at.port)
  await first.send(hubHead(at.authorization, token)).read()
  const fields = [...(request.fields ?? []), ...HANDSHAKE]
  const answer = await at.ask({ ...request, target: `${path}${token}&${query}`, fields })
  first.close()
  return answer
}

/** Opens a stream, lets things happen once it is open, and reads as far as the last of `events`. */
function streaming(
  events: readonly string[],
  act: (at: Station) => Promise<void> | void,
): Required<Pick<Case, 'exchange' | 'events'>> {
  return {
    events,
    exchange: async (at, { target, fields }) => {
      const stream = await readStream(at, target, fields)
      await stream.untilEvent('hello')
      await act(at)
      await stream.until((text) => parseFrames(text).length === events.length)
      stream.close()
      return stream.answer
    },
  }
}
