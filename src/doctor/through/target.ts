/**
 * The address that is checked, and how long its answers are waited for.
 *
 * @module
 */

import type { LookupFunction } from 'node:net'

/** Milliseconds. */
export interface Patience {
  readonly connectMs: number
  readonly answerMs: number
  /** For the first event, which a server sends at once. */
  readonly helloMs: number
  /** For a sign of life on a stream where nothing happens; pings come every 25 s. */
  readonly pingMs: number
  /** For the refusal of an upload whose body is not sent. */
  readonly refusalMs: number
  /** Between the two looks for a cache: `Date` counts seconds. */
  readonly cacheMs: number
  /** For everything. */
  readonly totalMs: number
}

export const PATIENCE: Patience = {
  connectMs: 5000,
  answerMs: 10_000,
  helloMs: 8000,
  pingMs: 30_000,
  refusalMs: 5000,
  cacheMs: 1200,
  totalMs: 60_000,
}

export interface Target {
  /** Without a slash at its end. */
  readonly base: URL
  readonly patience: Patience
  /** Aborts when the person does, or when the time is over. */
  readonly signal: AbortSignal
  /** Authorities besides those that this program trusts anyway; for tests. */
  readonly ca?: string | undefined
  /** Where plain HTTP would be answered; for tests. */
  readonly plainPort?: number | undefined
  /** Instead of the resolver of the system; for tests. */
  readonly lookup?: LookupFunction | undefined
}

/** `clip.example.net` of a URL; IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}
