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

/** A word that a browser keeps; one that refuses that has it for as long as the page is open. */
export class KeptWord {
  readonly #storage: () => Storage
  readonly #key: string
  #here: string | null = null

  constructor(storage: () => Storage, key: string) {
    this.#storage = storage
    this.#key = key
  }

  get(): string | null {
    const kept = withStorage(this.#storage, (storage) => storage.getItem(this.#key))
    return kept === undefined ? this.#here : kept
  }

  set(word: string | null): void {
    this.#here = word
    withStorage(this.#storage, (storage) => {
      if (word === null) storage.removeItem(this.#key)
      else storage.setItem(this.#key, word)
    })
  }
}
