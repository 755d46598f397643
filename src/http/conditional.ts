/**
 * Conditional requests: RFC 9110 section 13.
 *
 * Dates are compared in whole seconds, since that is what HTTP dates have. Dates that cannot be
 * parsed do not count.
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
