/**
 * Requests for a resource under a condition, or for a part of it: RFC 9110 sections 13 and 14.
 *
 * Dates are compared in whole seconds, since that is what HTTP dates have. Dates that cannot be
 * parsed do not count. A `Range` that is malformed or asks for several ranges is ignored, as the
 * RFC allows: nobody gets more than the bytes once.
 * @module
 */

import type { IncomingHttpHeaders } from 'node:http'

/** The validators of a resource as it is now. */
export interface Validators {
  /** Quoted entity tag. */
  readonly etag?: string | undefined
  /** Unix milliseconds. */
  readonly lastModified?: number | undefined
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/** Judges a conditional GET or HEAD: RFC 9110 section 13.2.2. */
export function checkPreconditions(
  headers: IncomingHttpHeaders,
  { etag, lastModified }: Validators,
): 'proceed' | 'not-modified' | 'failed' {
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, etag, 'strong')) return 'failed'
  } else if (isLater(lastModified, headers['if-unmodified-since']) === true) {
    return 'failed'
  }
  if (ifNoneMatch !== undefined) {
    return matches(ifNoneMatch, etag, 'weak') ? 'not-modified' : 'proceed'
  }
  return isLater(lastModified, headers['if-modified-since']) === false ? 'not-modified' : 'proceed'
}

/** Whether a `Range` still counts: RFC 9110 section 13.1.5. */
export function isRangeCurrent(ifRange: string, { etag, lastModified }: Validators): boolean {
  if (ifRange.includes('"')) return ifRange === etag && !ifRange.startsWith('W/')
  return lastModified !== undefined && Date.parse(ifRange) === wholeSeconds(lastModified)
}

/** Whether a list of entity tags, or `*`, names the tag. */
function matches(list: string, etag: string | undefined, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true
  if (etag === undefined) return false
  if (comparison === 'strong') return !etag.startsWith('W/') && parseTags(list).includes(etag)
  return parseTags(list).map(opaqueTag).includes(opaqueTag(etag))
}

function parseTags(list: string): readonly string[] {
  return list.match(ENTITY_TAG) ?? []
}

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

/** `undefined` when one of the two is not known. */
function isLater(time: number | undefined, date: string | undefined): boolean | undefined {
  if (time === undefined || date === undefined) return undefined
  const parsed = Date.parse(date)
  return Number.isNaN(parsed) ? undefined : wholeSeconds(time) > parsed
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000
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
