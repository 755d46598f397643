/** Names that version 2 of the protocol gave to pictures. @module */

import { createHash } from 'node:crypto'
import { DomainError } from '../core/domain-error.ts'
import { KIB } from '../core/limits.ts'
import { blocksOf } from '../lib/read-bytes.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Blob } from '../ports/blob.ts'

/** The bytes that are read at once for an MD5. */
const BLOCK_BYTES: number = 256 * KIB

/**
 * The MD5 of bytes, which old clients still name pictures by: computed when somebody asks, once for
 * each blob. It proves nothing; it only tells whether such a client means what is there.
 */
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

/** The MD5 in lower-case hex; empty when the bytes are gone. */
async function md5IfThere(blob: Blob): Promise<string> {
  const hash = createHash('md5')
  try {
    for await (const block of blocksOf(blob, { blockSize: BLOCK_BYTES })) hash.update(block)
    return hash.digest('hex')
  } catch (error) {
    if (error instanceof DomainError && error.code === 'BLOB_GONE') return ''
    throw error
  }
}
