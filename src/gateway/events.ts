/**
 * `GET /api/sse/clipboard`: tells a device at once that something changed, and never what.
 *
 * @module
 */

import type { Handler } from '../http/call.ts'
import { EVENT_STREAM_HEADERS } from '../http/event-stream.ts'
import type { Device } from '../ports/device-registry.ts'
import type { EventStreams } from './event-streams.ts'

export function getEvents(streams: Pick<EventStreams, 'open'>): Handler<Device> {
  return ({ principal }) => ({
    status: 200,
    headers: EVENT_STREAM_HEADERS,
    body: { attach: (wire) => streams.open(principal, wire) },
  })
}
