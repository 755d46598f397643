/** Port: the time that the members of a circle agree on. @module */

/** The time that members share. */
export interface CircleTime {
  /** Unix milliseconds; never behind the own clock. */
  now(): number
  /**
   * Takes over what another member said that the time is, when that is later. What cannot be true
   * is ignored. Only for what came from a member that has been identified.
   */
  learn(at: number): void
  /** Whether a stamp may have this time; see `isBelievable`. */
  believes(at: number): boolean
}
