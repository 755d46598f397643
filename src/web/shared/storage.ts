/** The storage that browsers have for pages. @module */

/** @returns Nothing where the browser refuses its storage to pages. */
export function withStorage<Result>(
  storage: () => Storage,
  use: (storage: Storage) => Result,
): Result | undefined {
  try {
    return use(storage())
  } catch {
    return undefined
  }
}
