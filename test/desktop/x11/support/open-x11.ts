/**
 * An X11 clipboard with a clock that belongs to the test, and everything that it told.
 *
 * @module
 */

import { after, type TestContext } from 'node:test'
import {
  X11Clipboard,
  type X11ClipboardOptions,
} from '../../../../src/desktop/x11/x11-clipboard.ts'
import type { CopiedContent } from '../../../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../../../support/capture-logger.ts'
import { Mailbox } from '../../../support/mailbox.ts'
import { Xvfb } from '../../../support/xvfb.ts'
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

export interface OpenX11 {
  readonly display: string
  readonly clipboard: X11Clipboard
  readonly copies: Mailbox<CopiedContent>
  readonly troubles: Mailbox<string | { readonly isOver: true }>
  readonly clock: WatchedClock
  readonly logger: CaptureLogger
}

/** Opens a clipboard, closed with the test. */
export async function openX11(
  t: TestContext,
  display: string,
  options: Partial<X11ClipboardOptions> = {},
): Promise<OpenX11> {
  const copies: OpenX11['copies'] = new Mailbox()
  const troubles: OpenX11['troubles'] = new Mailbox()
  const clock = new WatchedClock()
  const logger = new CaptureLogger()
  const clipboard = await X11Clipboard.open({
    display,
    events: {
      isWanted: () => true,
      onCopy: (content) => copies.put(content),
      onTrouble: (message) => troubles.put(message ?? { isOver: true }),
    },
    clock,
    logger,
    readAtStart: false,
    ...options,
  })
  t.after(() => clipboard.close())
  return { display, clipboard, copies, troubles, clock, logger }
}

/** A clipboard, and another program on the same display. */
export async function openBoth(
  t: TestContext,
  options: Partial<X11ClipboardOptions> = {},
): Promise<OpenX11 & { readonly other: XClient }> {
  const { display } = await sharedXvfb()
  const other = await XClient.open(t, display)
  return { ...(await openX11(t, display, options)), other }
}
