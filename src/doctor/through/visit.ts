/**
 * What the checks through an address are given.
 *
 * @module
 */

import type { Admin } from '../../ports/admin.ts'
import type { Finding } from '../finding.ts'
import type { Machine } from '../machine.ts'
import type { Target } from './target.ts'

/** Somebody to log in as. */
export interface Login {
  /** The value of `Authorization`. Never shown. */
  readonly header: string
  /** The same user, with a password that nobody has. */
  readonly wrongHeader: string
  /** Of a device that was made for this; then its daemon is the one that should answer. */
  readonly borrowed: { readonly id: string; readonly admin: Pick<Admin, 'devices'> } | undefined
}

export interface Visit {
  readonly target: Target
  readonly machine: Machine
  readonly login: Login | undefined
}

/** A visit that may log in. */
export type LoggedIn = Visit & { readonly login: Login }

/** What a step found. */
export interface Step {
  readonly findings: readonly Finding[]
  /** Whether what follows would tell more than this does. */
  readonly goOn: boolean
}
