/**
 * Requests for the event stream of docs/openapi.yaml.
 * @module
 */

import { parseFrames } from './answer-check.ts'
import { GROUP_TIME, success, type Case } from './case.ts'
import { readStream } from './read-stream.ts'
import type { Station } from './station.ts'

export const EVENT_CASES: readonly Case[] = [
  success('headEvents', 200, 'with the headers alone'),
  success(
    'getEvents',
    200,
    'with hello',
    streaming(['hello'], () => {}),
  ),
  success('getEvents', 200, 'to a phone that says what time it is', {
    ...streaming(['hello'], () => {}),
    request: { fields: [GROUP_TIME] },
  }),
  success('getEvents', 200, 'with an update when an item was pushed', {
    ...streaming(['hello', 'update'], ({ phone }) => phone.pushText('hello')),
  }),
  success('getEvents', 200, 'with a ping, which is a comment', {
    ...streaming(['hello', 'update'], async ({ phone, clock }) => {
      clock.advance(25_000)
      await phone.pushText('hello')
    }),
  }),
  // In one tick: the second waits for the first to be written, and the third takes its place.
  success('getEvents', 200, 'with resync when updates were left out', {
    ...streaming(['hello', 'update', 'update', 'resync'], ({ changes }) => {
      for (const digit of ['0', '1', '2']) {
        changes.publish({ contentId: `blake3v1:${digit.repeat(64)}`, activatedAt: 1 })
      }
    }),
  }),
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
