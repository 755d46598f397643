/** The task that `photo-worker.js` is started with. @module */

/** A photo, and how to decode it. */
export interface PhotoTask {
  readonly photo: Uint8Array
  /** Paths of the files of the decoder. */
  readonly script: string
  readonly wasm: string
  /** How many the picture has, as its header tells. */
  readonly pixels: number
  /** The memory that the decoder may take, its code and the photo included. */
  readonly maxBytes: number
}
