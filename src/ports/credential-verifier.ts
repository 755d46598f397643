/**
 * Port: decides whether a user name and a password belong to a paired device.
 *
 * @module
 */

import type { Device } from './device-registry.ts'

/** On whose behalf credentials are verified. */
export interface Turn {
  /**
   * Verifications wait in lanes that are served in turn, and a full queue turns away those of its
   * longest lane.
   */
  readonly lane: string
  /** Turns credentials away the first time they come. */
  readonly isDeferred: boolean
}

export interface CredentialVerifier {
  /**
   * What earlier verifications tell of these credentials: the device that they belong to *now*, or
   * that they are wrong. `undefined` when they tell nothing. Costs next to nothing.
   */
  recall(username: string, password: string): Device | 'wrong' | undefined

  /**
   * The device that these credentials belong to *now*; `undefined` when there is none. Costs and
   * looks the same whether the user exists or not.
   *
   * @throws {DomainError} `VERIFIER_BUSY` when they are turned away. They are not deferred when
   *   they come again, and go first in their lane then.
   */
  verify(username: string, password: string, turn: Turn): Promise<Device | undefined>
}
