/** Times, programs and senders as people say them. @module */

import { OWNER_ID } from '../../core/owner.ts'
import { inLargestUnit } from '../../lib/count-of.ts'
import { hourCycle } from '../shared/language.ts'
import { findDevice, type Sender } from './state.ts'
import { strings } from './strings.ts'

const SECOND_MS = 1000

/** Below that the seconds only make people nervous. */
const NOW_MS = 5 * SECOND_MS

/** `2 minutes ago`. The future, which clocks that disagree produce, is now. */
export function formatAgo(at: number, now: number) {
  const elapsed = now - at
  if (!(elapsed >= NOW_MS)) return strings.time.now
  const [count, unit] = inLargestUnit(elapsed) ?? [0, 'second']
  return strings.time.ago(count, unit)
}

/** `9 minutes left`, rounded up. */
export function formatLeft(ms: number) {
  const minutes = Math.ceil(ms / 60_000)
  if (minutes <= 1) return strings.time.left(Math.max(0, Math.ceil(ms / SECOND_MS)), 'second')
  return strings.time.left(minutes, 'minute')
}

/** The whole date and time, where the reader is. */
export function formatExact(at: number) {
  return new Date(at).toLocaleString(strings.lang, {
    dateStyle: 'long',
    timeStyle: 'medium',
    hourCycle,
  })
}

/** `14:30`, where the reader is. */
export function formatClock(at: number) {
  return new Date(at).toLocaleTimeString(strings.lang, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle,
  })
}

/** Who made an item current. @param sender `null` when nobody knows. */
export function describeSender(sender: Sender | null) {
  if (sender === null) return ''
  const words = strings.item.senders
  const { kind, deviceId } = sender
  if (kind === 'clipboard') return words.clipboard
  if (deviceId === OWNER_ID) return words.owner
  const device = deviceId === null ? undefined : findDevice(deviceId)
  if (device !== undefined) return words.device(device.label)
  return kind === 'peer' ? words.other : words.removed
}
