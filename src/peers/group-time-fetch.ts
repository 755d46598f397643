/**
 * Tells the time of the group with each request to another member, and learns it from the answers.
 *
 * @module
 */

import type { Fetch } from '../client/server.ts'
import { formatGroupTime, GROUP_TIME_HEADER, parseGroupTime } from '../core/group-time.ts'
import type { GroupTime } from '../ports/group-time.ts'

/** Refusals teach nothing: whoever gives them may be a proxy, or nobody who knows us. */
export function withGroupTime(send: Fetch, time: GroupTime): Fetch {
  return async (url, init) => {
    const headers = { ...init.headers, [GROUP_TIME_HEADER]: formatGroupTime(time.now()) }
    const response = await send(url, { ...init, headers })
    const at = parseGroupTime(response.headers.get(GROUP_TIME_HEADER))
    if (at !== undefined && (response.ok || response.status === 304)) time.learn(at)
    return response
  }
}
