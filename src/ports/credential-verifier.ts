/** Port: decides whether a user name and a password belong to a paired device. @module */

import type { Device } from './device-registry.ts'

/** On whose behalf credentials are verified. */
export interface Turn {
  /**
   * The client's address, or its network. Networks are served in turn, and a full queue turns away
   * those of the network with the most verifications.
   */
  readonly network: string
  /** Turns credentials away the first time they come. */
  readonly isDeferred: boolean
}

/** Checks user names and passwords. */
export interface CredentialVerifier {
  /**
   * Recalls earlier verifications of these credentials: the device that they belong to *now*, or
   * that they are wrong. `undefined` when nothing is remembered. Costs next to nothing.
   */
  recall(username: string, password: string): Device | 'wrong' | undefined

  /**
   * The device that these credentials belong to *now*; `undefined` when there is none. Costs and
   * looks the same whether the user exists or not. Only while several verifications wait, user
   * names that exist have a place of their own.
   *
   * @throws {DomainError} `VERIFIER_BUSY` when they are turned away. They are not deferred when
   *   they come again, and do not wait behind credentials that come for the first time.
   */
  verify(username: string, password: string, turn: Turn): Promise<Device | undefined>
}
