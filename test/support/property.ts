/** fast-check, with the number of cases from `FUZZ_RUNS` (`make fuzz` sets it). @module */

import fc from 'fast-check'

const runs = Number(process.env['FUZZ_RUNS'] ?? 100)

fc.configureGlobal({
  numRuns: runs,
  interruptAfterTimeLimit: 300_000,
  markInterruptAsFailure: false,
})

export default fc
