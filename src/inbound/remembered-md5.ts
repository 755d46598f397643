/**
 * The MD5 of bytes that old clients may ask about: computed when somebody asks, once for each blob.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { md5Of } from '../hashing/md5.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Blob } from '../ports/blob.ts'

export class RememberedMd5 {
  readonly #known = new WeakMap<Blob, string>()
  readonly #flights = new SingleFlight<Blob, string>()

  /** In lower-case hex; `undefined` until {@link learn} was called for this blob. */
  find(blob: Blob): string | undefined {
    return this.#known.get(blob)
  }

  /**
   * Reads the blob, unless its MD5 is known. Takes long, so nobody may wait for it who does not
   * need it. Bytes that are gone have no MD5, which is an answer too.
   *
   * @throws What the blob throws, but `BLOB_GONE`.
   */
  async learn(blob: Blob): Promise<void> {
    if (this.#known.has(blob)) return
    this.#known.set(blob, await this.#flights.run(blob, () => md5IfThere(blob)))
  }
}

async function md5IfThere(blob: Blob): Promise<string> {
  try {
    return await md5Of(blob)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'BLOB_GONE') return ''
    throw error
  }
}
