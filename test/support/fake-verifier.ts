/** Verifies against a registry of {@link openTestDevices} without hashing for real. @module */

import { DomainError } from '../../src/core/domain-error.ts'
import type { CredentialVerifier } from '../../src/ports/credential-verifier.ts'
import type { Device, DeviceRegistry } from '../../src/ports/device-registry.ts'
import { isHashOf } from './fake-hasher.ts'

export class FakeVerifier implements CredentialVerifier {
  readonly #registry: DeviceRegistry
  /** Verifications so far. */
  calls = 0
  /** Whether the queue is full. */
  isBusy = false

  constructor(registry: DeviceRegistry) {
    this.#registry = registry
  }

  /** Remembers nothing, so that each verification is counted. */
  recall(): undefined {}

  async verify(username: string, password: string): Promise<Device | undefined> {
    this.calls++
    if (this.isBusy) throw new DomainError('VERIFIER_BUSY', 'Cannot verify: the test says so')
    const device = this.#registry.find(username)
    if (device?.username !== username) return undefined
    return isHashOf(password, device.passwordHash) ? device : undefined
  }
}
