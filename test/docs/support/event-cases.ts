/**
 * Requests for the event stream of docs/openapi.yaml.
 * @module
 */

import { parseFrames } from './answer-check.ts'
import { casesOf, GROUP_TIME, withFields, type Case } from './case.ts'
import { readStream } from './read-stream.ts'
import type { Station } from './station.ts'

const HELLO = streaming(['hello'], () => {})

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
    // In one tick: the second waits for the first to be written, and the third takes its place.
    [
      200,
      'with resync when updates were left out',
      streaming(['hello', 'update', 'update', 'resync'], ({ changes }) => {
        for (const digit of ['0', '1', '2']) {
          changes.publish({ contentId: `blake3v1:${digit.repeat(64)}`, activatedAt: 1 })
        }
      }),
    ],
  ]),
]

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
