/** Serves waiting items fairly: nobody can crowd out the others. @module */

/** A bounded queue of lanes, served in turn. When it is full, the longest lane gives way. */
export class FairQueue<Item extends NonNullable<unknown>> {
  readonly #capacity: number
  /** No lane is empty; the lane whose turn is next comes first. */
  readonly #lanes = new Map<string, Item[]>()
  #size = 0

  /** @param capacity How many items may wait in all lanes together. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#size
  }

  has(lane: string): boolean {
    return this.#lanes.has(lane)
  }

  /**
   * Lets an item wait. Items with the same lane share one part of the queue.
   *
   * @returns The item that has to leave when there was no room: the newest of the longest lane.
   *   Between lanes of one length, the lane of `item` gives way.
   */
  add(item: Item, lane: string): Item | undefined {
    const items = this.#lanes.get(lane) ?? []
    items.push(item)
    this.#lanes.set(lane, items)
    this.#size++
    return this.#size > this.#capacity ? this.#giveWay(lane, items) : undefined
  }

  /** Removes and returns the item whose turn it is; `undefined` when none waits. */
  take(): Item | undefined {
    for (const [lane, items] of this.#lanes) {
      const item = this.#remove(lane, items, 0)
      // The lane goes to the end, so that next time it is the turn of the others.
      if (this.#lanes.delete(lane)) this.#lanes.set(lane, items)
      return item
    }
    return undefined
  }

  /** Removes an item. @returns Whether the item was waiting. */
  delete(item: Item): boolean {
    for (const [lane, items] of this.#lanes) {
      const index = items.indexOf(item)
      if (index === -1) continue
      this.#remove(lane, items, index)
      return true
    }
    return false
  }

  #giveWay(newcomer: string, own: Item[]): Item | undefined {
    let longest: [string, Item[]] = [newcomer, own]
    for (const entry of this.#lanes) {
      if (entry[1].length > longest[1].length) longest = entry
    }
    const [lane, items] = longest
    return this.#remove(lane, items, items.length - 1)
  }

  #remove(lane: string, items: Item[], index: number): Item | undefined {
    const [item] = items.splice(index, 1)
    if (items.length === 0) this.#lanes.delete(lane)
    this.#size--
    return item
  }
}
