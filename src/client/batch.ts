/** Names files that are sent one by one and become one item. @module */

/** A new name of a batch. A page may have no secure context, and so no `randomUUID`. */
export function newBatch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The headers of an upload in a batch. @param number Its place, from 1 on. */
export function batchHeaders(batch: string, number: number): Readonly<Record<string, string>> {
  return { 'X-Clipgate-Batch': `${batch}/${number}` }
}
