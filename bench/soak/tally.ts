/**
 * What was asked, what came of it, and what should not have.
 * @module
 */

/** More of a kind say nothing new. */
const MAX_FAULTS = 50

export class Tally {
  /** By who asked, then by what came of it. */
  counts: Record<string, Record<string, number>> = {}
  readonly faults: string[] = []
  faultCount = 0

  count(who: string, outcome: string | number): void {
    this.counts[who] ??= {}
    const outcomes = this.counts[who]
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }

  fault(who: string, what: string): void {
    this.faultCount += 1
    if (this.faults.length < MAX_FAULTS) this.faults.push(`${who}: ${what}`)
  }

  /** Counts an answer; any other status than these is a fault. */
  judge(who: string, status: number, expected: readonly number[]): boolean {
    this.count(who, status)
    const isExpected = expected.includes(status)
    if (!isExpected) this.fault(who, `answered with ${status}, not ${expected.join(' or ')}`)
    return isExpected
  }

  /** Forgets what was counted, and no fault. */
  reset(): void {
    this.counts = {}
  }

  get total(): number {
    const outcomes = Object.values(this.counts).flatMap((each) => Object.values(each))
    return outcomes.reduce((sum, count) => sum + count, 0)
  }
}
