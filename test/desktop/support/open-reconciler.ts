/** A clipboard as the daemon has it, over any system, and everything that it reports. @module */

import assert from 'node:assert/strict'
import { NEVER_PAUSED, type SharingPause } from '../../../src/desktop/clipboard-pause.ts'
import { ClipboardReconciler } from '../../../src/desktop/clipboard-reconciler.ts'
import { COPY_LIMITS, type CopyLimits } from '../../../src/desktop/read-copy.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type {
  ClipboardEvents,
  CopiedContent,
  OfferedContent,
  SystemClipboard,
} from '../../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeSystemClipboard } from '../../support/fake-system-clipboard.ts'
import { Mailbox } from '../../support/mailbox.ts'
import type { WatchedClock } from '../x11/support/watched-clock.ts'

/** A pause that the test begins and ends, and that tells when it kept something from happening. */
export function watchedPause(isOn: boolean) {
  const asked = new Mailbox<'asked'>()
  const state = { isOn }
  const pause: SharingPause = {
    ...NEVER_PAUSED,
    get isOn() {
      if (state.isOn) asked.put('asked')
      return state.isOn
    },
  }
  return { asked, state, pause }
}

/** A pause that is over, and since which nobody has copied. */
export function pauseThatEnded(): SharingPause {
  let isHoldingBack = true
  return {
    ...NEVER_PAUSED,
    get isHoldingBack() {
      return isHoldingBack
    },
    noteChange: () => (isHoldingBack = false),
  }
}

/** Resolves when something was not shared because of such a pause. */
export async function untilHeldBack({
  logger,
  copies,
}: Pick<Opened, 'logger' | 'copies'>): Promise<void> {
  while (!logger.text.includes('may have been copied during a pause')) {
    assert.equal(copies.size, 0, 'it was shared')
    await done()
  }
}

/** What tells that a trouble is over. */
export const IS_OVER = { isOver: true } as const

/** Kills what a clipboard is connected to, and has both back. @param away The trouble meanwhile. */
export async function restart(
  server: { crash(): Promise<void>; restart(): Promise<void> },
  { clock, troubles }: { clock: WatchedClock; troubles: Opened['troubles'] },
  away: string,
): Promise<void> {
  await server.crash()
  assert.equal(await troubles.next(), away)
  await server.restart()
  await clock.pass(300)
  assert.deepEqual(await troubles.next(), IS_OVER)
}

/** For adapters that are opened without anybody who listens. */
export const SILENT: ClipboardEvents = {
  onChange: () => undefined,
  onLost: () => undefined,
  onBack: () => undefined,
  onTrouble: () => undefined,
}

/** What an adapter gets. */
export interface SystemDeps<AnyClock extends Clock = Clock> {
  readonly events: ClipboardEvents
  readonly clock: AnyClock
  readonly logger: CaptureLogger
  readonly limits: CopyLimits
}

export interface Opened<AnyClock extends Clock = FakeClock> {
  readonly clipboard: ClipboardReconciler
  readonly copies: Mailbox<CopiedContent>
  readonly troubles: Mailbox<string | { readonly isOver: true }>
  readonly clock: AnyClock
  readonly logger: CaptureLogger
}

export interface OpenOptions {
  readonly limits?: Partial<CopyLimits> | undefined
  readonly pause?: SharingPause | undefined
  /** The time by which items are stamped. */
  readonly now?: () => number
  /** What was current before the start. */
  readonly before?: () => Promise<OfferedContent | undefined>
  /** Whether the daemon that offered that was killed. */
  readonly wasCutOff?: boolean
  /** Gets what is to be told whether what was found is older. */
  readonly onFound?: (onJudged: (isOlder: boolean) => void) => void
}

/** Opens a system with `open`; the caller closes the clipboard. */
export async function openReconciler<AnyClock extends Clock>(
  clock: AnyClock,
  open: (deps: SystemDeps<AnyClock>) => Promise<SystemClipboard>,
  options: OpenOptions = {},
): Promise<Opened<AnyClock>> {
  const { limits: some, pause = NEVER_PAUSED, wasCutOff = false, onFound } = options
  const { before = async () => undefined, now = () => clock.now() } = options
  const copies: Opened['copies'] = new Mailbox()
  const troubles: Opened['troubles'] = new Mailbox()
  const logger = new CaptureLogger()
  const limits = { ...COPY_LIMITS, ...some }
  const clipboard = new ClipboardReconciler((events) => open({ events, clock, logger, limits }), {
    pause,
    limits,
    clock,
    now,
    logger,
    before,
    wasCutOff,
    onCopy: (copied, _at, onJudged) => {
      copies.put(copied)
      if (onJudged !== undefined) onFound?.(onJudged)
    },
    onTrouble: (message) => troubles.put(message ?? { isOver: true }),
  })
  await clipboard.opened()
  return { clipboard, copies, troubles, clock, logger }
}

/** Opens a clipboard over a system in memory. */
export async function openFake({ clock = new FakeClock(), ...options }: FakeOptions = {}) {
  const opened: FakeSystemClipboard[] = []
  const kept = await openReconciler(
    clock,
    async ({ events }) => {
      const system = new FakeSystemClipboard(events)
      opened.push(system)
      return system
    },
    options,
  )
  const [system] = opened
  if (system === undefined) throw new Error('The system was not opened')
  return { ...kept, system }
}

interface FakeOptions extends OpenOptions {
  readonly clock?: FakeClock
}

/** Everything that was asked for in memory is done then. */
export const done = () => new Promise((resolve) => setImmediate(resolve))

/** A text that is copied or offered. */
export const text = (value: string) => ({ kind: 'text', text: value }) as const
