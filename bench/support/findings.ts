/**
 * What a bench file found: figures for the table, and curves for the plots.
 * @module
 */

import type { PlotName } from './plots.ts'
import type { Row } from './row.ts'

export interface Findings {
  readonly rows: readonly Row[]
  readonly curves: readonly Curve[]
}

/** One line in a plot. */
export interface Curve {
  readonly plot: PlotName
  /** What it is of, in the key of the plot. */
  readonly name: string
  /** In the units of the plot, from left to right. */
  readonly points: readonly CurvePoint[]
}

export type CurvePoint = readonly [x: number, y: number]

/** What a run found, and where: all that is kept of it. */
export interface Result extends Findings {
  /** When it ended, as ISO 8601. */
  readonly at: string
  readonly isQuick: boolean
  readonly machine: Machine
}

export interface Machine {
  readonly node: string
  readonly system: string
  readonly processor: string
  readonly cores: number
  readonly memoryGiB: number
  /** The load of the minute before: what other programs did. Figures of a busy machine say little. */
  readonly load: number
}
