/** Verifies against a {@link MemoryDeviceRegistry} without hashing for real. @module */

import { DomainError } from '../../src/core/domain-error.ts'
import type { CredentialVerifier } from '../../src/ports/credential-verifier.ts'
import type { Device } from '../../src/ports/device-registry.ts'
import { fakeHashOf, type MemoryDeviceRegistry } from './memory-device-registry.ts'

export class FakeVerifier implements CredentialVerifier {
  readonly #registry: MemoryDeviceRegistry
  /** Verifications so far. */
  calls = 0
  /** Whether the queue is full. */
  isBusy = false

  constructor(registry: MemoryDeviceRegistry) {
    this.#registry = registry
  }

  /** Remembers nothing, so that each verification is counted. */
  recall(): undefined {}

  async verify(username: string, password: string): Promise<Device | undefined> {
    this.calls++
    if (this.isBusy) throw new DomainError('VERIFIER_BUSY', 'Cannot verify: the test says so')
    const device = this.#registry.find(username)
    if (device?.username !== username) return undefined
    return device.passwordHash === fakeHashOf(username, password) ? device : undefined
  }
}
