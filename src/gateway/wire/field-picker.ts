/**
 * Picks known fields out of bodies, the way clients write them.
 *
 * Names count in any letter case. Where one occurs in several spellings the camelCase one wins,
 * and among equals the last one. What is unknown is left alone.
 * @module
 */

/** Fields under their lower-case names. */
export type Fields<Value = unknown> = ReadonlyMap<string, Value>

/** Keeps the wanted ones of the fields that it is shown. */
export class FieldPicker<Value> {
  readonly longestName: number
  readonly #spellings: ReadonlyMap<string, string>
  readonly #settled = new Set<string>()
  readonly #fields = new Map<string, Value>()

  /** @param names In camelCase. */
  constructor(names: readonly string[]) {
    this.#spellings = new Map(names.map((name) => [name.toLowerCase(), name]))
    this.longestName = Math.max(...names.map((name) => name.length))
  }

  get fields(): Fields<Value> {
    return this.#fields
  }

  /** Whether this is one of the names. Cheap: a hostile body has hundreds of thousands. */
  wants(name: string): boolean {
    return name.length <= this.longestName && this.#spellings.has(name.toLowerCase())
  }

  add(name: string, value: Value): void {
    const key = name.toLowerCase()
    if (name === this.#spellings.get(key)) this.#settled.add(key)
    else if (this.#settled.has(key)) return
    this.#fields.set(key, value)
  }
}
