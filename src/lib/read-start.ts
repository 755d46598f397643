/**
 * Reads the beginning of bytes at rest.
 *
 * @module
 */

/** Structurally a `Blob` of the ports. */
export interface Openable {
  open(): Promise<{
    read(target: Uint8Array, position: number): Promise<number>
    close(): Promise<void>
  }>
}

/** The first `length` bytes, or all when there are fewer. */
export async function readStart(bytes: Openable, length: number): Promise<Uint8Array> {
  const start = new Uint8Array(length)
  const opened = await bytes.open()
  try {
    return start.subarray(0, await opened.read(start, 0))
  } finally {
    await opened.close()
  }
}
