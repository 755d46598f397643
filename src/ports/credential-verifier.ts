/**
 * Port: decides whether a user name and a password belong to a paired device.
 *
 * @module
 */

import type { Device } from './device-registry.ts'

export interface CredentialVerifier {
  /**
   * The device that these credentials belong to *now*; `undefined` when there is none. Costs and
   * looks the same whether the user exists or not.
   *
   * @throws {DomainError} `VERIFIER_BUSY` when too many verifications wait already.
   */
  verify(username: string, password: string): Promise<Device | undefined>
}
