/**
 * Has several contenders measured in turn, so that they share the moods of the machine.
 * @module
 */

/** `QUICK=1`: fewer rounds and smaller bodies; enough to see that all of it works. */
export const isQuick: boolean = process.env['QUICK'] === '1'

/** A large file. */
export const BODY_BYTES: number = (isQuick ? 128 : 1024) * 1024 * 1024

export interface RoundsOptions {
  readonly rounds: number
  /** Begin with the round that counts, where a run must be short. */
  readonly isCold?: boolean
  /** Runs before each contender, unmeasured. */
  readonly prepare?: () => Promise<void>
}

/** Something that is measured, and what it gave so far, round for round. */
export interface Contender<T> {
  readonly values: readonly T[]
  /** Has it measured once more. */
  run(isCounted: boolean): Promise<void>
}

export function contender<T>(measure: () => Promise<T>): Contender<T> {
  const values: T[] = []
  return {
    values,
    async run(isCounted) {
      const value = await measure()
      if (isCounted) values.push(value)
    },
  }
}

/**
 * Runs each contender once a round, after one round that does not count; each round begins with
 * another one.
 */
export async function alternate(
  contenders: readonly Contender<unknown>[],
  { rounds, isCold = false, prepare = async () => undefined }: RoundsOptions,
): Promise<void> {
  for (let round = isCold ? 0 : -1; round < rounds; round++) {
    for (const contender of rotate(contenders, round + 1)) {
      await prepare()
      await contender.run(round >= 0)
    }
  }
}

/** Seconds that `run` took. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return (performance.now() - start) / 1000
}

/** Megabytes a second, for a body that took `seconds`. */
export function toRates(seconds: readonly number[]): readonly number[] {
  return seconds.map((each) => BODY_BYTES / 1e6 / each)
}

function rotate<T>(items: readonly T[], by: number): readonly T[] {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}
