/**
 * Which costs grow with the number of devices and with the size of an item, and what does one of
 * each cost?
 * @module
 */

import { measureDevices } from './growth/devices.ts'
import { measureSizes } from './growth/sizes.ts'
import { measureUnitCosts } from './growth/unit-costs.ts'
import { bench } from './support/bench.ts'

void bench(async (context) => {
  const devices = await measureDevices(context)
  const sizes = await measureSizes(context)
  const unitCosts = await measureUnitCosts(context)
  return {
    rows: [...devices.rows, ...sizes.rows, ...unitCosts],
    curves: [...devices.curves, ...sizes.curves],
  }
})
