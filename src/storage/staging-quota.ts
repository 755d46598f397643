/**
 * What all staged uploads together may take: those that are complete, and those under way.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { MIB } from '../core/limits.ts'
import type { Allowance } from './allowance.ts'

/** Uploads of unknown size are given so much at a time. */
const STEP_BYTES: number = 32 * MIB

export class StagingQuota {
  readonly #quotaBytes: number
  #used = 0

  constructor(quotaBytes: number) {
    this.#quotaBytes = quotaBytes
  }

  /** Bytes that are taken or promised. */
  get used(): number {
    return this.#used
  }

  /** Bytes that would have to go before `bytes` more find room; 0 when they do. */
  missing(bytes: number): number {
    return Math.max(0, this.#used + bytes - this.#quotaBytes)
  }

  add(bytes: number): void {
    this.#used += bytes
  }

  remove(bytes: number): void {
    this.#used -= bytes
  }

  /**
   * Begins an upload of at least `bytes`.
   *
   * @param makeRoom Gives so many bytes up, or throws.
   * @throws {DomainError} `NO_SPACE`.
   */
  async allow(bytes: number, makeRoom: (missing: number) => Promise<void>): Promise<Allowance> {
    let promised = 0
    const promise = async (least: number, most: number): Promise<void> => {
      const missing = this.missing(least)
      if (missing > 0) await makeRoom(missing)
      // Others may have been faster while room was made.
      if (this.missing(least) > 0) throw noRoom()
      const granted = Math.max(least, Math.min(most, this.#quotaBytes - this.#used))
      promised += granted
      this.#used += granted
    }
    await promise(bytes, bytes)
    return {
      get bytes() {
        return promised
      },
      grow: async (wanted) => {
        if (wanted > promised) await promise(wanted - promised, STEP_BYTES)
      },
      wrote: () => undefined,
      release: () => {
        this.#used -= promised
        promised = 0
      },
    }
  }
}

/** The quota is used up, and nothing of the device is left to give up for it. */
export function noRoom(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot stage the upload: too much waits already')
}
