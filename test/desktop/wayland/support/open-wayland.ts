/**
 * A Wayland clipboard with a clock that belongs to the test, and everything that it told.
 * @module
 */

import { after, type TestContext } from 'node:test'
import { WaylandClipboard } from '../../../../src/desktop/wayland/wayland-clipboard.ts'
import { Sway } from '../../../support/sway.ts'
import { openReconciler, type Opened, type OpenOptions } from '../../support/open-reconciler.ts'
import { WatchedClock } from '../../x11/support/watched-clock.ts'

let shared: Promise<Sway> | undefined

// Here and not where it starts: there it would belong to the test that happens to be the first.
after(async () => (await shared)?.stop())

/** The compositor of this file, started when first needed. */
export function sharedSway(): Promise<Sway> {
  shared ??= Sway.start()
  return shared
}

export interface OpenWayland extends Opened<WatchedClock> {
  readonly env: Sway['env']
}

interface Options extends OpenOptions {
  readonly readAtStart?: boolean
  readonly wasCutOff?: boolean
}

/** Opens a clipboard, closed with the test. */
export async function openWayland(
  t: TestContext,
  { env }: Pick<Sway, 'env'>,
  { readAtStart = false, wasCutOff = false, ...options }: Options = {},
): Promise<OpenWayland> {
  const opened = await openReconciler(
    new WatchedClock(),
    (deps) => {
      const how = { env: { ...process.env, ...env }, readAtStart, wasCutOff }
      return WaylandClipboard.open({ ...deps, ...how })
    },
    options,
  )
  t.after(() => opened.clipboard.close())
  return { ...opened, env }
}
