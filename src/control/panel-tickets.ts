/**
 * Tickets to the panel: each opens it once, and within a minute.
 *
 * In memory only; a restart ends them.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../ports/clock.ts'
import { isSameToken } from './control-token.ts'

/** As long as it takes a slow machine to start a browser. */
export const TICKET_TTL_MS = 60_000

/** Nobody opens the panel more often within a minute; one more takes the place of the oldest. */
export const MAX_TICKETS = 16

const TICKET_BYTES = 32

interface Ticket {
  readonly text: string
  /** Monotonic. */
  readonly diesAt: number
}

export class PanelTickets {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** Oldest first. */
  #tickets: readonly Ticket[] = []

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  issue(): string {
    const text = randomBytes(TICKET_BYTES).toString('base64url')
    const diesAt = this.#clock.monotonic() + TICKET_TTL_MS
    this.#tickets = [...this.#alive(), { text, diesAt }].slice(-MAX_TICKETS)
    return text
  }

  /** Whether `text` is a ticket; from now on it is none. */
  redeem(text: string): boolean {
    const alive = this.#alive()
    const found = alive.filter((ticket) => isSameToken(ticket.text, text))
    this.#tickets = alive.filter((ticket) => !found.includes(ticket))
    return found.length > 0
  }

  #alive(): readonly Ticket[] {
    const now = this.#clock.monotonic()
    return this.#tickets.filter(({ diesAt }) => now < diesAt)
  }
}
