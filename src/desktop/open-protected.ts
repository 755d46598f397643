/**
 * Stands between the clipboard of a system and the daemon, whatever the system: what is not to be
 * shared goes no further, echoes are recognised, and loops end.
 *
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ClipboardEvents, CopiedContent, SystemClipboard } from '../ports/system-clipboard.ts'
import { CopyTooLarge } from './copy-too-large.ts'
import { EchoGuard } from './echo-guard.ts'
import { LoopBreaker } from './loop-breaker.ts'
import { sizeOf, type CopyLimits } from './read-copy.ts'

export interface ProtectionOptions {
  readonly events: ClipboardEvents
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: CopyLimits
}

/** Where trouble comes from, the worst first. */
const SOURCES = ['system', 'loop', 'size'] as const
type TroubleSource = (typeof SOURCES)[number]

/**
 * Opens a clipboard with `open`, which gets the events that it is to call.
 *
 * Writing to it resolves also when that has to wait until a loop is over; see {@link LoopBreaker}.
 *
 * @throws What `open` throws.
 */
export async function openProtected(
  open: (events: ClipboardEvents) => Promise<SystemClipboard>,
  { events, clock, logger, limits }: ProtectionOptions,
): Promise<SystemClipboard> {
  const setTrouble = combineTroubles(events)
  const shared = { clock, logger }
  const breaker = new LoopBreaker({
    events: {
      onCopy: (copied) => events.onCopy(copied),
      onTrouble: (message) => setTrouble('loop', message),
    },
    ...shared,
  })
  const echoes = new EchoGuard({ onCopy: (copied) => breaker.onCopy(copied), ...shared })

  const system = await open({
    isWanted() {
      const isWanted = events.isWanted()
      if (!isWanted) {
        // What is there now was not written by us, whatever it is.
        echoes.forget()
        breaker.forgetHeld()
      }
      return isWanted
    },
    onCopy(copied) {
      const problem = whyNotShared(copied, limits)
      setTrouble('size', problem instanceof CopyTooLarge ? problem.message : undefined)
      if (problem === undefined) return echoes.onCopy(copied)
      echoes.forgetComparison()
      breaker.forgetHeld()
    },
    onTrouble: (message) => setTrouble('system', message),
  })
  return {
    kind: system.kind,
    offer: (content) =>
      breaker.offer(content, async () => {
        await echoes.offer(content, () => system.offer(content))
        setTrouble('size', undefined)
      }),
    async close() {
      breaker.close()
      echoes.forget()
      await system.close()
    },
  }
}

/** Adapters that can do without reading such copies have done so: see `read-copy.ts`. */
function whyNotShared(
  copied: CopiedContent,
  limits: CopyLimits,
): CopyTooLarge | 'kind' | undefined {
  const { kind } = copied
  const size = sizeOf(copied)
  if (!limits.types.includes(kind)) {
    limits.onLeftOut?.({ kind, size })
    return 'kind'
  }
  const maxBytes = kind === 'image' ? limits.maxImageBytes : limits.maxTextBytes
  if (size === undefined || size <= maxBytes) return undefined
  return new CopyTooLarge({ maxBytes, size, kind })
}

/** Tells of the worst trouble, and of none when all are over. */
function combineTroubles(
  events: ClipboardEvents,
): (source: TroubleSource, message: string | undefined) => void {
  const troubles = new Map<TroubleSource, string>()
  let told: string | undefined
  return (source, message) => {
    if (message === undefined) troubles.delete(source)
    else troubles.set(source, message)
    const worst = SOURCES.map((name) => troubles.get(name)).find((text) => text !== undefined)
    if (worst === told) return
    told = worst
    events.onTrouble(worst)
  }
}
