/** A password hasher that makes real PHC strings at no cost, counts, and can be held up. @module */

import { createHash } from 'node:crypto'
import { formatPhcString } from '../../src/devices/phc-string.ts'
import type { PasswordHasher } from '../../src/devices/password-hasher.ts'
import type { Place } from '../../src/devices/verification-queue.ts'

export class FakeHasher implements Pick<PasswordHasher, 'hashPassword' | 'verifyPassword'> {
  #hashes = 0
  /** Verifications so far, with the hashes they were asked about. */
  readonly verified: (string | undefined)[] = []
  /** Where they waited. */
  readonly places: Place[] = []
  /** What every verification waits for. */
  gate: Promise<void> = Promise.resolve()

  async hashPassword(password: string): Promise<string> {
    const salt = new Uint8Array(16)
    new DataView(salt.buffer).setUint32(0, this.#hashes++)
    return hashWith(salt, password)
  }

  async verifyPassword(
    password: string,
    passwordHash: string | undefined,
    place: Place,
  ): Promise<boolean> {
    this.verified.push(passwordHash)
    this.places.push(place)
    await this.gate
    return isHashOf(password, passwordHash)
  }
}

/** Whether a {@link FakeHasher} has made it of this password. */
export function isHashOf(password: string, passwordHash: string | undefined): boolean {
  if (passwordHash === undefined) return false
  const salt = Buffer.from(passwordHash.split('$')[4] ?? '', 'base64')
  return hashWith(salt, password) === passwordHash
}

function hashWith(salt: Uint8Array, password: string): string {
  const tag = createHash('sha256').update(salt).update(password).digest()
  return formatPhcString({ memoryKib: 32, passes: 1, parallelism: 4, salt, tag })
}
