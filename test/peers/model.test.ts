import { before, describe, it } from 'node:test'
import { CircleModel } from './support/circle-model.ts'
import { buildProgram } from '../faults/support/built-program.ts'

/** `make model RUNS=200`; one run again with `make model RUNS=1 MODEL_SEED=n`. */
const runs = Number(process.env['MODEL_RUNS'] ?? 10)
const first = Number(process.env['MODEL_SEED'] ?? 1 + Math.floor(Math.random() * 1_000_000))

const program = await buildProgram()

/** By seed. */
const underWay = new Map<number, CircleModel>()

before(() => {
  console.log(`MODEL_SEED=${first} RUNS=${runs}`)
  // A run that waits for what never comes is ended from outside, and says where it is.
  process.once('SIGTERM', () => {
    for (const [seed, model] of underWay) console.log(`MODEL_SEED=${seed} hangs\n${model.story}`)
    process.exit(1)
  })
})

describe('a group to which anything happens', { concurrency: 2 }, () => {
  for (let seed = first; seed < first + runs; seed += 1) {
    it(`has one item, and lost none that was acknowledged (MODEL_SEED=${seed})`, async (t) => {
      const model = new CircleModel(t, program.main, seed)
      underWay.set(seed, model)
      await model.run().catch((error: unknown) => {
        throw new Error(`MODEL_SEED=${seed}\n${model.story}`, { cause: error })
      })
      underWay.delete(seed)
    })
  }
})
