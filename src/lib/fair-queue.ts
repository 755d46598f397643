/**
 * A bounded queue in which nobody can crowd out the others: lanes are served in turn, and when
 * there is no room the longest of them gives way.
 *
 * @module
 */

/** Where something waits. */
export interface Place {
  /** Whoever shares a lane shares one part of the queue. */
  readonly lane: string
  /** Before the rest of its lane, behind those of whom the same is said. */
  readonly goesFirst: boolean
}

interface Lane<Item> {
  readonly items: Item[]
  /** How many of them go first. */
  firsts: number
}

export class FairQueue<Item extends NonNullable<unknown>> {
  readonly #capacity: number
  /** None of them is empty; the one whose turn is next comes first. */
  readonly #lanes = new Map<string, Lane<Item>>()
  #size = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#size
  }

  /**
   * Lets an item wait.
   *
   * @returns The one that does not wait any longer, if there was no room: the newest of the longest
   *   lane. Between lanes of one length it is the newcomer's that gives way.
   */
  add(item: Item, { lane: name, goesFirst }: Place): Item | undefined {
    const lane = this.#lanes.get(name) ?? { items: [], firsts: 0 }
    if (goesFirst) lane.items.splice(lane.firsts++, 0, item)
    else lane.items.push(item)
    this.#lanes.set(name, lane)
    this.#size++
    return this.#size > this.#capacity ? this.#giveWay(name, lane) : undefined
  }

  /** The item whose turn it is. */
  take(): Item | undefined {
    for (const [name, lane] of this.#lanes) {
      const item = this.#remove(name, lane, 0)
      // Next time it is the turn of the others.
      if (this.#lanes.delete(name)) this.#lanes.set(name, lane)
      return item
    }
    return undefined
  }

  /** @returns Whether the item was waiting. */
  delete(item: Item): boolean {
    for (const [name, lane] of this.#lanes) {
      const index = lane.items.indexOf(item)
      if (index === -1) continue
      this.#remove(name, lane, index)
      return true
    }
    return false
  }

  #giveWay(newcomer: string, own: Lane<Item>): Item | undefined {
    let longest: [string, Lane<Item>] = [newcomer, own]
    for (const entry of this.#lanes) {
      if (entry[1].items.length > longest[1].items.length) longest = entry
    }
    const [name, lane] = longest
    return this.#remove(name, lane, lane.items.length - 1)
  }

  #remove(name: string, lane: Lane<Item>, index: number): Item | undefined {
    const [item] = lane.items.splice(index, 1)
    if (index < lane.firsts) lane.firsts--
    if (lane.items.length === 0) this.#lanes.delete(name)
    this.#size--
    return item
  }
}
