/** Tells whether long work keeps others waiting. @module */

/** How many turns others have while `work` is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  function count(): void {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  try {
    await work()
  } finally {
    clearImmediate(next)
  }
  return turns
}
