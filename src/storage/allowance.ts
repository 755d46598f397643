/**
 * How many bytes an upload may bring, by the rules of whoever has to find room for it.
 *
 * Room is set aside in steps, while bytes come: what a sender declares and does not send takes
 * nothing from anybody.
 *
 * @module
 */

import { KIB, MIB } from '../core/limits.ts'

/** Belongs to one upload, from before its first byte until it is stored or has failed. */
export interface Allowance {
  /** So many bytes are allowed now. */
  readonly bytes: number

  /**
   * Allows at least `bytes` in all.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  grow(bytes: number): Promise<void>

  /** Tells how much of it has been written. */
  wrote(bytes: number): void

  /** Ends it. Calling it twice is fine. */
  release(): void
}

const FIRST_STEP_BYTES: number = 64 * KIB

/** So that a fast upload does not ask the disk for each chunk. */
const LARGEST_STEP_BYTES: number = 32 * MIB

/** How much more is set aside for an upload: as much as it has brought, within bounds. */
export function nextStep(allowed: number, declaredSize: number | undefined): number {
  const step = Math.min(Math.max(allowed, FIRST_STEP_BYTES), LARGEST_STEP_BYTES)
  const isKnown = declaredSize !== undefined && declaredSize > allowed
  return isKnown ? Math.min(step, declaredSize - allowed) : step
}

/** What is set aside before the first byte. */
export function firstStep(declaredSize: number | undefined): number {
  return Math.min(declaredSize ?? 0, FIRST_STEP_BYTES)
}
