/**
 * What a daemon keeps of itself as a member of a group: by how much the group is ahead of its
 * clock.
 *
 * @module
 */

import { MAX_AHEAD_MS } from '../core/group-time.ts'
import { decodeNumber, matching, objectOf, type Decoder } from '../lib/decoder.ts'

/** Its file in the data directory. */
export const MEMBER_FILE = 'member.json'

export interface MemberRecord {
  readonly aheadMs: number
}

const isAhead = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_AHEAD_MS

const decodeMember: Decoder<MemberRecord> = objectOf({
  aheadMs: matching(decodeNumber, isAhead, 'milliseconds, ten years at most'),
})

export function formatMemberFile({ aheadMs }: MemberRecord): string {
  return `${JSON.stringify({ aheadMs })}\n`
}

/** @throws {TypeError} when it is not one. Says nothing of what it is. */
export function parseMemberFile(text: string): MemberRecord {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The message of a SyntaxError quotes the file.
    throw new TypeError('it is not JSON')
  }
  return decodeMember(value)
}
