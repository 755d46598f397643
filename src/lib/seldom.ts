/** Keeps the log from saying the same over and over. @module */

import type { Clock } from './clock.ts'

const PAUSE_MS = 600_000

type Fields = Readonly<Record<string, string | number | undefined>>

interface SeldomDeps {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly logger?: { warn(message: string, fields: Fields): void } | undefined
}

/** Lets each subject be spoken of once in ten minutes. */
export class Seldom {
  readonly #deps: SeldomDeps
  readonly #said = new Map<string, { readonly at: number; readonly leftOut: number }>()

  constructor(deps: SeldomDeps) {
    this.#deps = deps
  }

  /** Warns, or leaves it out. The next warning of this subject says how many were left out. */
  warn(message: string, fields: Fields, subject = ''): void {
    const { clock, logger } = this.#deps
    const now = clock.monotonic()
    const { at = -Infinity, leftOut = 0 } = this.#said.get(subject) ?? {}
    const isSoon = now - at < PAUSE_MS
    this.#said.set(subject, { at: isSoon ? at : now, leftOut: isSoon ? leftOut + 1 : 0 })
    if (!isSoon) logger?.warn(message, { ...fields, ...(leftOut > 0 && { leftOut }) })
  }

  forget(subject: string): void {
    this.#said.delete(subject)
  }
}
