/** fast-check, with the number of cases from `FUZZ_RUNS` (`make fuzz` sets it). @module */

import fc from 'fast-check'

const runs = Number(process.env['FUZZ_RUNS'] ?? 100)

fc.configureGlobal({
  numRuns: runs,
  interruptAfterTimeLimit: 300_000,
  markInterruptAsFailure: false,
})

type Values = [unknown, ...unknown[]]

// biome-ignore lint/suspicious/noConfusingVoidType: as fast-check has it.
type Verdict = boolean | void

/** The kinds of some values, and what holds for all of them; else it is false, or throws. */
type Claim<Given extends Values, Outcome> = [
  ...kinds: { [Index in keyof Given]: fc.Arbitrary<Given[Index]> },
  holds: (...given: Given) => Outcome,
]

/** Shows that something holds for whatever values of these kinds. */
export function forAll<Given extends Values>(...claim: Claim<Given, Verdict>): void {
  fc.assert(fc.property<Given>(...claim))
}

/** The same, of something that takes a while. */
export function forAllAsync<Given extends Values>(
  ...claim: Claim<Given, Promise<Verdict>>
): Promise<void> {
  return fc.assert(fc.asyncProperty<Given>(...claim))
}

export default fc
