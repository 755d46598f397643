/** Tokens that prove that they were given out here, so that none has to be kept. @module */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Gives tokens out. None outlives the program. */
export class OwnTokens {
  readonly #key = randomBytes(32)

  /**
   * A token for a text that it shows, of characters that stand in a path.
   *
   * @param bound Values that it does not show, and that have to be the same when it comes back.
   */
  make(shown: string, bound: readonly unknown[]): string {
    const what = JSON.stringify([shown, ...bound])
    return `${shown}.${createHmac('sha256', this.#key).update(what).digest('base64url')}`
  }

  /** Whether {@link make} has given `token` out, with the same `bound` values. */
  isOwn(token: string, bound: readonly unknown[]): boolean {
    const shown = token.slice(0, Math.max(0, token.lastIndexOf('.')))
    const [given, expected] = [Buffer.from(token), Buffer.from(this.make(shown, bound))]
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
}
