/**
 * What is wrong with members of the group, as far as their signals give it away; for the owner.
 *
 * @module
 */

import type { Logger } from '../../ports/logger.ts'

const TWIN = 'Another daemon has a copy of this group.json; remove it here, and start again'

const AHEAD =
  'A member tells of an item whose time is too far ahead of the clock, which is ignored; update it, ' +
  'or set the clocks'

export interface MemberTroublesDeps {
  readonly logger: Logger
  /** Called when `error` is another. */
  readonly onChange: () => void
}

export class MemberTroubles {
  readonly #deps: MemberTroublesDeps
  #isTwin = false
  /** The member that told such a time last, and nothing else since. */
  #ahead: string | undefined

  constructor(deps: MemberTroublesDeps) {
    this.#deps = deps
  }

  get error(): string | undefined {
    if (this.#isTwin) return TWIN
    return this.#ahead === undefined ? undefined : AHEAD
  }

  /** A second daemon is this member too, and nobody hears the one that was started earlier. */
  onTwin(): void {
    if (this.#isTwin) return
    this.#isTwin = true
    this.#tell(TWIN)
  }

  /** @param isAhead Whether the stamp that `origin` told is not believed. */
  onStamp(origin: string, isAhead: boolean): void {
    if (isAhead && this.#ahead === undefined) {
      this.#ahead = origin
      this.#tell(AHEAD)
    } else if (!isAhead && this.#ahead === origin) {
      this.#ahead = undefined
      this.#deps.onChange()
    }
  }

  #tell(error: string): void {
    this.#deps.logger.warn(error)
    this.#deps.onChange()
  }
}
