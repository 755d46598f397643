/**
 * JSON as the control listener answers it: a member that is absent is `null`.
 *
 * @module
 */

import type { Reply } from '../http/reply.ts'

/** For programs and for the panel alone; no other page may have it. */
const HEADERS: readonly string[] = [
  'Content-Type',
  'application/json',
  'Cache-Control',
  'no-store',
  'Referrer-Policy',
  'no-referrer',
]

/** Puts `null` where a member is `undefined`, which JSON would leave out. */
export function withNulls(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (member === undefined ? null : member))
}

export function controlJson(value: unknown): Reply {
  return { status: 200, headers: HEADERS, body: withNulls(value) }
}
