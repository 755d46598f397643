/** Uploads that are between two states: whoever drops a device waits for them. @module */

import { DomainError } from '../core/domain-error.ts'

/**
 * The uploads of all devices that are between two states, as received and not staged yet, or taken
 * and not ended yet. Whoever drops a device keeps them from being staged, and waits for their end.
 */
export class PendingUploads {
  readonly #byDevice = new Map<string, Set<PendingUpload>>()

  /** Notes an upload, which must be ended. */
  begin(deviceId: string): PendingUpload {
    const uploads = this.#byDevice.get(deviceId) ?? new Set()
    this.#byDevice.set(deviceId, uploads)
    const upload = new PendingUpload(() => {
      if (uploads.delete(upload) && uploads.size === 0) this.#byDevice.delete(deviceId)
    })
    uploads.add(upload)
    return upload
  }

  /** Marks the uploads of a device, in this tick. @returns Settles when all of them have ended. */
  async drop(deviceId: string): Promise<void> {
    const uploads = [...(this.#byDevice.get(deviceId) ?? [])]
    for (const upload of uploads) upload.isDropped = true
    await Promise.all(uploads.map(({ ended }) => ended))
  }
}

/** An upload between two states. */
export class PendingUpload {
  /** Resolves at the end of the upload. */
  readonly ended: Promise<void>
  /** Whether the device was dropped meanwhile. */
  isDropped = false
  /** Ends it. */
  end: () => void = () => {}

  constructor(onEnd: () => void) {
    this.ended = new Promise((resolve) => {
      this.end = () => {
        onEnd()
        resolve()
      }
    })
  }

  /** @throws {DomainError} `CREDENTIAL_GONE` when the upload must not be staged any more. */
  check(): void {
    if (this.isDropped) throw dropped()
  }

  /** Ends it when `work` has settled. */
  async endAfter<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      this.end()
    }
  }
}

/** The refusal of an upload whose sender was shut out. */
export function dropped(): DomainError {
  return new DomainError('CREDENTIAL_GONE', 'Cannot stage the upload: its sender was shut out')
}
