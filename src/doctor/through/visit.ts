/**
 * A visit to an address: where it is, who logs in there, and how long answers are waited for.
 * @module
 */

import type { LookupFunction } from 'node:net'
import type { Admin } from '../../ports/admin.ts'
import type { Finding, Verdict } from '../finding.ts'
import type { Machine } from '../situation.ts'

/** How long something is waited for, in milliseconds: the patience of a person at a terminal. */
export const PATIENCE = {
  connectMs: 5000,
  answerMs: 10_000,
  /** For the first event, which a server sends at once. */
  helloMs: 8000,
  /** For a sign of life on a stream where nothing happens; pings come every 25 s. */
  pingMs: 30_000,
  /** For the refusal of an upload whose body is not sent. */
  refusalMs: 5000,
  /** Between the two looks for a cache: `Date` counts seconds. */
  cacheMs: 1200,
  /** For everything. */
  totalMs: 60_000,
}

export type Patience = Readonly<typeof PATIENCE>

/** Somebody to log in as. */
export interface Login {
  /** The value of `Authorization`. Never shown. */
  readonly header: string
  /** The same user, with a wrong password. */
  readonly wrongHeader: string
  /** The device that was made for this; its daemon is the one that should answer. */
  readonly borrowed: { readonly id: string; readonly admin: Pick<Admin, 'devices'> } | undefined
}

/** One look at one address. */
export interface Visit {
  /** The base URL of the address, without a slash at its end. */
  readonly base: URL
  readonly machine: Machine
  readonly login: Login | undefined
  readonly patience: Patience
  /** Aborts when the person does, or when the time is over. */
  readonly signal: AbortSignal
  /** Authorities instead of those that this program trusts; for tests. */
  readonly ca?: string | undefined
  /** Where plain HTTP would be answered, instead of port 80; for tests. */
  readonly plainPort?: number | undefined
  /** Instead of the resolver of the system; for tests. */
  readonly lookup?: LookupFunction | undefined
}

/** Something that is looked at through the address. */
export interface Probe {
  /** The name of its finding, where it has one; else of what is told when there is no answer. */
  readonly check: string
  /** @throws {NoAnswerError} or the reason of the signal of the visit. */
  readonly look: (visit: Visit) => Promise<Verdict | readonly Finding[]>
}

/** The host of a URL, `clip.example.net`; IPv6 without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** The port of a URL, also where the URL leaves it out. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}
