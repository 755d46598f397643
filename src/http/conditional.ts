/**
 * Requests for a resource under a condition, or for a part of it: RFC 9110 sections 13 and 14.
 *
 * Entity tags only: two items can be of the same second, and a later one can have older bytes. A
 * `Range` that is malformed or asks for several ranges is ignored, as the RFC allows: nobody gets
 * more than the bytes once.
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http'

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/**
 * Judges a conditional GET or HEAD: RFC 9110 section 13.2.2.
 *
 * @param etag Quoted, of the resource as it is now.
 */
export function checkPreconditions(
  headers: IncomingHttpHeaders,
  etag: string,
): 'proceed' | 'not-modified' | 'failed' {
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined && !matches(ifMatch, etag, 'strong')) return 'failed'
  const isKnown = ifNoneMatch !== undefined && matches(ifNoneMatch, etag, 'weak')
  return isKnown ? 'not-modified' : 'proceed'
}

/** Whether a `Range` still counts: RFC 9110 section 13.1.5. */
export function isRangeCurrent(ifRange: string, etag: string | undefined): boolean {
  return ifRange === etag && !ifRange.startsWith('W/')
}

/** Whether a list of entity tags, or `*`, names the tag. */
function matches(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true
  if (comparison === 'strong') return !etag.startsWith('W/') && parseTags(list).includes(etag)
  return parseTags(list).map(opaqueTag).includes(opaqueTag(etag))
}

function parseTags(list: string): readonly string[] {
  return list.match(ENTITY_TAG) ?? []
}

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

/** A part of a resource. */
export interface ByteRange {
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

// Digits are bounded, so that `Number` stays in bounds and the match is linear.
const SINGLE_RANGE = /^bytes=(\d{0,20})-(\d{0,20})$/i

/**
 * Parses a `Range` header against a resource of `size` bytes.
 *
 * @returns `undefined` when the header does not count.
 */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [whole, first, last] = SINGLE_RANGE.exec(header) ?? []
  if (whole === undefined || first === undefined || last === undefined) return undefined
  if (first === '') return parseSuffix(last, size)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/** A range of the last N bytes. */
function parseSuffix(digits: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (digits === '') return undefined
  const length = Number(digits)
  if (length === 0) return 'unsatisfiable'
  // The end of nothing is nothing, and 206 has no way to say so.
  if (size === 0) return undefined
  return { start: Math.max(0, size - length), end: size }
}
