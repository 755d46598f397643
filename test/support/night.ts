/**
 * Tests that need luck, or size: by day they take a short form, which is the same each time, and
 * with `make night` a long one, whose choices follow from a seed that is printed.
 * @module
 */

const seed = process.env['CLIPGATE_TEST_NIGHT']

/** Whether this is `make night`. */
export const isNight: boolean = seed !== undefined

/** Where the choices of a test begin. */
export const SEED: number = Number(seed ?? 1)

if (isNight) console.log(`make night SEED=${SEED}`)

/** One of two numbers: of rounds, or of bytes. */
export function byNight(atNight: number, { byDay }: { readonly byDay: number }): number {
  return isNight ? atNight : byDay
}

interface Options {
  readonly skip: string | false
}

/**
 * For `describe` and `it`: a test that nothing runs by day.
 *
 * @param needed What else it needs, which is asked at night only.
 */
export function onlyAtNight(needed: () => Options = () => ({ skip: false })): Options {
  return isNight ? needed() : { skip: 'skipped: needs the night (make night)' }
}
