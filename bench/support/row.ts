/**
 * One line of the result: a figure beside its baseline, and what the budget says to it.
 * @module
 */

import { BUDGETS, type BudgetId } from './budgets.ts'
import { figureOf, ratioOf, type Figure } from './figure.ts'

export type Verdict = 'aim met' | 'floor met' | 'MISSED' | 'skipped' | ''

/** Rows without a budget: what a request, a login, a small machine, and growth costs. */
export type Subject = BudgetId | 'rates' | 'auth' | 'small' | 'growth'

export interface Row {
  readonly budget: Subject
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
  const { what, baseline: baselineName, unit, floor, aim } = BUDGETS[budget]
  const figures = {
    measured: figureOf(measured),
    ...(baseline === undefined
      ? {}
      : { baseline: figureOf(baseline), ratio: ratioOf(measured, baseline) }),
  }
  const value = judgedValue(budget, figures)
  return {
    budget,
    what,
    baselineName,
    unit,
    ...figures,
    floor,
    aim,
    verdict: reaches(budget, value, aim)
      ? 'aim met'
      : reaches(budget, value, floor)
        ? 'floor met'
        : 'MISSED',
    ...(note === undefined ? {} : { note }),
  }
}

/** What floors and aims are about: the ratio to the baseline, or the amount itself. */
export function judgedValue(
  budget: BudgetId,
  { measured, ratio }: Pick<Row, 'measured' | 'ratio'>,
): number {
  const figure = BUDGETS[budget].judged === 'amount' ? measured : ratio
  return figure?.median ?? Number.NaN
}

export function reaches(budget: BudgetId, value: number, limit: number): boolean {
  return BUDGETS[budget].better === 'higher' ? value >= limit : value <= limit
}

/** A budget whose tool is missing here. `reason` completes "skipped: …". */
export function skip(budget: BudgetId, reason: string): Row {
  const { what, baseline: baselineName, unit, floor, aim } = BUDGETS[budget]
  return { budget, what, baselineName, unit, floor, aim, verdict: 'skipped', note: reason }
}

/** A figure that explains that of a budget, and has none of its own. */
export function explain(
  budget: Subject,
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

/** The same for what has no budget, as far as it cannot be had here. */
export function leaveOut(budget: Subject, what: string, reason: string): Row {
  return { budget, what, baselineName: '', unit: '', verdict: 'skipped', note: reason }
}
