/**
 * An item that members of the group have, and this one does not: what it is, and where it can be had.
 *
 * @module
 */

import type { ContentId } from '../../core/content-id.ts'
import type { Stamp } from '../../core/stamp.ts'

/** More are of no use: one is needed. */
const MAX_SOURCES = 4

export class Offer {
  readonly stamp: Stamp
  readonly contentId: ContentId
  readonly #sources: string[] = []
  #tried = 0
  #turn = 0

  constructor(stamp: Stamp, contentId: ContentId) {
    this.stamp = stamp
    this.contentId = contentId
  }

  /** Base URLs of members that have it. */
  get sources(): readonly string[] {
    return this.#sources
  }

  add(url: string): void {
    if (this.#sources.length < MAX_SOURCES && !this.#sources.includes(url)) this.#sources.push(url)
  }

  /** A source that was not given yet; `undefined` when there is none left. */
  next(): string | undefined {
    const url = this.#sources[this.#tried]
    if (url !== undefined) this.#tried += 1
    return url
  }

  /** The sources in turn, again and again, beginning with the one that {@link next} gave last. */
  rotate(): string | undefined {
    this.#turn += 1
    return this.#sources[(this.#tried - 1 + this.#turn) % this.#sources.length]
  }
}
