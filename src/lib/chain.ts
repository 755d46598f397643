/** Keeps what comes and goes all the time, in the order in which it came. @module */

/** A thing that can stand in one chain at a time, which alone changes these. */
export interface Link<Self> {
  previous: Self | undefined
  next: Self | undefined
}

/**
 * A list, oldest first. A `Set` makes a new table after a few that come and go, and each table
 * refers to the one after it: once one of them is old, whatever stood in those after it is copied
 * to it, and stays there until the whole heap is gone through.
 */
export class Chain<Item extends Link<Item>> {
  #first: Item | undefined
  #last: Item | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Appends a link that stands in no chain. */
  add(item: Item): void {
    item.previous = this.#last
    if (this.#last === undefined) this.#first = item
    else this.#last.next = item
    this.#last = item
    this.#size += 1
  }

  /** Removes a link. @returns Whether it stood in this chain. */
  delete(item: Item): boolean {
    const { previous, next } = item
    if (previous === undefined && this.#first !== item) return false
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    // Else one that is old and gone would keep those after it.
    item.previous = undefined
    item.next = undefined
    this.#size -= 1
    return true
  }

  /** Visits all links. The one that is visited may be removed. */
  *[Symbol.iterator](): Generator<Item, undefined> {
    let next = this.#first
    while (next !== undefined) {
      const item = next
      next = item.next
      yield item
    }
    return undefined
  }
}
