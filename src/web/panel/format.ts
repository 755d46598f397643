/** Times, programs and senders as people say them. @module */

import { OWNER_ID } from '../../core/owner.ts'
import { inLargestUnit } from '../../lib/count-of.ts'
import { findDevice, type Sender } from './state.ts'
import { strings } from './strings.ts'

const SECOND_MS = 1000

/** Below that the seconds only make people nervous. */
const NOW_MS = 5 * SECOND_MS

/** Longer names of programs break the layout; the whole one is in the title. */
const MAX_CLIENT_LENGTH = 32

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
  return new Date(at).toLocaleString(strings.lang, { dateStyle: 'long', timeStyle: 'medium' })
}

/** `14:30`, where the reader is. */
export function formatClock(at: number) {
  return new Date(at).toLocaleTimeString(strings.lang, { hour: '2-digit', minute: '2-digit' })
}

/** The program in a `User-Agent`: `SyncClipboard 2.8.4`. */
export function formatClient(userAgent: string) {
  // Browsers begin with names of others; the one that is meant stands further back.
  const browser = /\b(Firefox|Edg|OPR|Chrome|Version)\/([\d.]+)/.exec(userAgent)
  const isBrowser = userAgent.startsWith('Mozilla/') && browser !== null
  const name = isBrowser ? browser[1]?.replace('Version', 'Safari') : undefined
  const major = browser?.[2]?.split('.')[0]
  const first = userAgent.trim().split(/\s/)[0] ?? ''
  const short = name === undefined ? first.replace('/', ' ') : `${name} ${major}`
  return short.length > MAX_CLIENT_LENGTH ? `${short.slice(0, MAX_CLIENT_LENGTH)}…` : short
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
