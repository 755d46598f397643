/**
 * The plots that there are.
 * @module
 */

import { drawPlot, type PlotOptions } from './draw-plot.ts'
import type { Curve } from './findings.ts'

export type PlotName = 'throughput' | 'latency' | 'memory' | 'small' | 'devices'

export const PLOTS: Readonly<Record<PlotName, PlotOptions>> = {
  throughput: {
    title: 'Throughput over size of the file',
    x: { label: 'size', unit: 'bytes', scale: 'log' },
    y: { label: 'throughput', unit: 'MB/s', scale: 'log' },
  },
  latency: {
    title: 'Latency of small requests',
    x: { label: 'share of the requests that were faster', unit: '%', scale: 'nines' },
    y: { label: 'latency', unit: 'ms', scale: 'log' },
  },
  memory: {
    title: 'Resident memory over time: login, rest, then rounds of four uploads at once',
    x: { label: 'time', unit: 's', scale: 'linear' },
    y: { label: 'resident', unit: 'MiB', scale: 'linear' },
  },
  small: {
    title: 'On a small machine: 128 MiB of memory and a quarter of a core',
    x: { label: 'time', unit: 's', scale: 'linear' },
    y: { label: 'memory', unit: 'MiB', scale: 'linear' },
  },
  devices: {
    title: 'What grows with the number of devices',
    x: { label: 'devices in the registry', unit: '', scale: 'log' },
    y: { label: 'beside that of ten devices', unit: 'ratio', scale: 'log' },
  },
}

export interface DrawnPlot {
  readonly plot: PlotName
  readonly title: string
  readonly svg: string
}

/** Draws each plot that has curves. */
export function drawPlots(curves: readonly Curve[]): readonly DrawnPlot[] {
  // Its keys are the names.
  return (Object.keys(PLOTS) as PlotName[]).flatMap((plot) => {
    const own = curves.filter((curve) => curve.plot === plot && curve.points.length > 0)
    const options = PLOTS[plot]
    return own.length === 0 ? [] : [{ plot, title: options.title, svg: drawPlot(options, own) }]
  })
}
