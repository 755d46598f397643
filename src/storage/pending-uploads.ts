/**
 * Uploads between two states, as received and not staged yet, or taken and not ended yet: so that
 * whoever drops a device can keep them from being staged, and wait for their end.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'

export interface PendingUpload {
  /** Its device was dropped meanwhile. */
  readonly isDropped: boolean
  /** @throws {DomainError} `CREDENTIAL_GONE` when it is not to be staged any more. */
  check(): void
  end(): void
  /** Ends it when `work` has settled. */
  endAfter<T>(work: Promise<T>): Promise<T>
}

export class PendingUploads {
  readonly #byDevice = new Map<string, Set<Entry>>()

  /** It must be ended. */
  begin(deviceId: string): PendingUpload {
    const entries = this.#byDevice.get(deviceId) ?? new Set()
    this.#byDevice.set(deviceId, entries)
    const entry = new Entry(() => {
      if (entries.delete(entry) && entries.size === 0) this.#byDevice.delete(deviceId)
    })
    entries.add(entry)
    return entry
  }

  /** Marks those of a device, in this tick. @returns Settles when all of them have ended. */
  async drop(deviceId: string): Promise<void> {
    const entries = [...(this.#byDevice.get(deviceId) ?? [])]
    for (const entry of entries) entry.isDropped = true
    await Promise.all(entries.map(({ ended }) => ended))
  }
}

/** The sender has no say any more. */
export function dropped(): DomainError {
  return new DomainError('CREDENTIAL_GONE', 'Cannot stage the upload: its sender was shut out')
}

class Entry implements PendingUpload {
  readonly ended: Promise<void>
  isDropped = false
  end: () => void = () => {}

  constructor(onEnd: () => void) {
    this.ended = new Promise((resolve) => {
      this.end = () => {
        onEnd()
        resolve()
      }
    })
  }

  check(): void {
    if (this.isDropped) throw dropped()
  }

  async endAfter<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      this.end()
    }
  }
}
