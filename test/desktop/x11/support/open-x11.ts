/** An X11 clipboard with a clock that belongs to the test, and everything that it told. @module */

import { after, type TestContext } from 'node:test'
import { X11Clipboard } from '../../../../src/desktop/x11/x11-clipboard.ts'
import { Xvfb } from '../../../support/xvfb.ts'
import { openReconciler, type Opened, type OpenOptions } from '../../support/open-reconciler.ts'
import { WatchedClock } from './watched-clock.ts'
import { XClient } from './x-client.ts'

let shared: Promise<Xvfb> | undefined

// Here and not where it starts: there it would belong to the test that happens to be the first.
after(async () => (await shared)?.stop())

/** The server of this file, started when first needed. */
export function sharedXvfb(): Promise<Xvfb> {
  shared ??= Xvfb.start()
  return shared
}

export interface OpenX11 extends Opened<WatchedClock> {
  readonly display: string
}

interface Options extends OpenOptions {
  readonly readAtStart?: boolean
}

/** Opens a clipboard, closed with the test. */
export async function openX11(
  t: TestContext,
  display: string,
  { readAtStart = false, ...options }: Options = {},
): Promise<OpenX11> {
  const opened = await openReconciler(
    new WatchedClock(),
    (deps) => X11Clipboard.open({ ...deps, display, readAtStart }),
    options,
  )
  t.after(() => opened.clipboard.close())
  return { ...opened, display }
}

/** A clipboard, and another program on the same display. */
export async function openBoth(
  t: TestContext,
  options: Options = {},
): Promise<OpenX11 & { readonly other: XClient }> {
  const { display } = await sharedXvfb()
  const other = await XClient.open(t, display)
  return { ...(await openX11(t, display, options)), other }
}
