/** Times and sizes as people say them. @module */

import { countOf, inLargestUnit } from '../../lib/count-of.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import type { TransferStatus } from '../../ports/admin.ts'

/** Formats a time as `2 minutes ago`. The future, which clocks that disagree produce, is now. */
export function formatAgo(iso: string, now: number): string {
  const elapsed = inLargestUnit(now - Date.parse(iso))
  return elapsed === undefined ? 'now' : `${countOf(...elapsed)} ago`
}

/** Formats a time as `2026-01-31 12:34:56`, in the zone of the reader. */
export function formatTime(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}

/** Says when a pause ends: `until 2026-01-31 12:34:56`, or when somebody ends it. */
export function describePause({ untilMs }: { readonly untilMs: number | undefined }): string {
  return untilMs === undefined ? 'until it is ended' : `until ${formatTime(new Date(untilMs))}`
}

/** Says how far a file on its way is: `from Pixel, 12 MiB of 40 MiB`. */
export function describeTransfer({ direction, device, bytes, total }: TransferStatus): string {
  const who = device ?? 'this machine'
  const all = total === undefined ? '' : ` of ${formatBytes(total)}`
  return `${direction === 'in' ? 'from' : 'to'} ${who}, ${formatBytes(bytes)}${all}`
}
