/**
 * A stream of one piece.
 *
 * @module
 */

/** Yields `bytes`, and ends. */
export async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
