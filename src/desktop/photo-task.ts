/** The task that `photo-worker.js` is started with. @module */

/** A photo, and how to decode it. */
export interface PhotoTask {
  readonly photo: Uint8Array
  /** Paths of the files of the decoder. */
  readonly script: string
  readonly wasm: string
}
