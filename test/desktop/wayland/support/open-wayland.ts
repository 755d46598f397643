/**
 * A Wayland clipboard with a clock that belongs to the test, and everything that it told.
 *
 * @module
 */

import { after, type TestContext } from 'node:test'
import {
  WaylandClipboard,
  type WaylandClipboardOptions,
} from '../../../../src/desktop/wayland/wayland-clipboard.ts'
import type { CopiedContent } from '../../../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../../../support/capture-logger.ts'
import { Mailbox } from '../../../support/mailbox.ts'
import { Sway } from '../../../support/sway.ts'
import { WatchedClock } from '../../x11/support/watched-clock.ts'

let shared: Promise<Sway> | undefined

// Here and not where it starts: there it would belong to the test that happens to be the first.
after(async () => (await shared)?.stop())

/** The compositor of this file, started when first needed. */
export function sharedSway(): Promise<Sway> {
  shared ??= Sway.start()
  return shared
}

export interface OpenWayland {
  readonly env: Sway['env']
  readonly clipboard: WaylandClipboard
  readonly copies: Mailbox<CopiedContent>
  readonly troubles: Mailbox<string | { readonly isOver: true }>
  readonly clock: WatchedClock
  readonly logger: CaptureLogger
}

/** Opens a clipboard, closed with the test. */
export async function openWayland(
  t: TestContext,
  sway: Pick<Sway, 'env'>,
  options: Partial<WaylandClipboardOptions> = {},
): Promise<OpenWayland> {
  const copies: OpenWayland['copies'] = new Mailbox()
  const troubles: OpenWayland['troubles'] = new Mailbox()
  const clock = new WatchedClock()
  const logger = new CaptureLogger()
  const clipboard = await WaylandClipboard.open({
    env: { ...process.env, ...sway.env },
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
  return { env: sway.env, clipboard, copies, troubles, clock, logger }
}
