/**
 * One line of the result: a figure beside its baseline, and what the budget says to it.
 *
 * @module
 */

import { BUDGETS, type BudgetId } from './budgets.ts'
import { figureOf, ratioOf, type Figure } from './figure.ts'

export type Verdict = 'aim met' | 'floor met' | 'MISSED' | 'skipped' | ''

export interface Row {
  readonly budget: BudgetId
  readonly what: string
  readonly baselineName: string
  readonly unit: string
  readonly measured?: Figure
  readonly baseline?: Figure
  readonly ratio?: Figure
  readonly floor?: number
  readonly aim?: number
  readonly verdict: Verdict
  readonly note?: string
}

export interface Sides {
  readonly measured: readonly number[]
  /** In the same order, when it could be measured. */
  readonly baseline?: readonly number[] | undefined
  readonly note?: string | undefined
}

export interface Explanation extends Sides {
  readonly what: string
  readonly unit: string
  readonly baselineName?: string
}

/** Judges figures by their budget. */
export function judge(budget: BudgetId, { measured, baseline, note }: Sides): Row {
  const { what, baseline: baselineName, unit, better, judged, floor, aim } = BUDGETS[budget]
  const amount = figureOf(measured)
  const ratio = baseline === undefined ? undefined : ratioOf(measured, baseline)
  const value = judged === 'amount' ? amount.median : (ratio?.median ?? Number.NaN)
  const reaches = (limit: number) => (better === 'higher' ? value >= limit : value <= limit)
  return {
    budget,
    what,
    baselineName,
    unit,
    measured: amount,
    ...(baseline === undefined ? {} : { baseline: figureOf(baseline) }),
    ...(ratio === undefined ? {} : { ratio }),
    floor,
    aim,
    verdict: reaches(aim) ? 'aim met' : reaches(floor) ? 'floor met' : 'MISSED',
    ...(note === undefined ? {} : { note }),
  }
}

/** A budget whose tool is missing here. `reason` completes "skipped: …". */
export function skip(budget: BudgetId, reason: string): Row {
  const { what, baseline: baselineName, unit, floor, aim } = BUDGETS[budget]
  return { budget, what, baselineName, unit, floor, aim, verdict: 'skipped', note: reason }
}

/** A figure that explains that of a budget, and has none of its own. */
export function explain(
  budget: BudgetId,
  { what, unit, measured, baseline, baselineName = '', note }: Explanation,
): Row {
  return {
    budget,
    what,
    baselineName,
    unit,
    measured: figureOf(measured),
    ...(baseline === undefined
      ? {}
      : { baseline: figureOf(baseline), ratio: ratioOf(measured, baseline) }),
    verdict: '',
    ...(note === undefined ? {} : { note }),
  }
}
