/**
 * Tells other members of the circle what time it is, and hears it from them. To all other devices
 * nothing of this exists.
 * @module
 */

import { formatCircleTime, CIRCLE_TIME_HEADER, parseCircleTime } from '../core/circle-time.ts'
import type { Call, Handler, Route } from '../http/call.ts'
import type { Reply } from '../http/reply.ts'
import type { Device } from '../ports/device-registry.ts'
import type { CircleTime } from '../ports/circle-time.ts'

const FIELD = CIRCLE_TIME_HEADER.toLowerCase()

/** The paths that members ask each other for. */
const PATTERNS: readonly string[] = ['/Sync.json', '/file/{dataName}', '/api/sse/clipboard']

/** A route as it is; where members use it, its answers of success to a peer carry the time. */
export function tellCircleTime(route: Route<Device>, time: CircleTime): Route<Device> {
  if (!PATTERNS.includes(route.pattern)) return route
  // The parameters are those of the same route.
  const handler = route.handler as Handler<Device>
  const stamp = (reply: Reply): Reply => ({
    ...reply,
    headers: [...(reply.headers ?? []), CIRCLE_TIME_HEADER, formatCircleTime(time.now())],
  })
  return {
    ...route,
    handler: (call: Call<Device>) => {
      if (call.principal.kind !== 'peer') return handler(call)
      const at = parseCircleTime(call.request.headers[FIELD])
      if (at !== undefined) time.learn(at)
      const reply = handler(call)
      return reply instanceof Promise ? reply.then(stamp) : stamp(reply)
    },
  }
}
