/**
 * How much memory and processor time a process takes, as Linux counts them.
 * @module
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'

export interface Memory {
  /** MiB resident. */
  readonly rss: number
  /** MiB of it that belong to no file. */
  readonly anonymous: number
  /** The most MiB that were resident since the last `resetPeak`. */
  readonly peak: number
}

/** Why there is nothing to be measured here, if so. */
export const usageMissing: string | undefined = existsSync('/proc/self/clear_refs')
  ? undefined
  : 'needs the /proc of Linux'

/** The same for all processors that Node runs on. */
const TICKS_PER_SECOND = 100

export function readMemory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (field: string): number => {
    const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    if (kibibytes === undefined) throw new Error(`Cannot read "${field}" of a process`)
    return Number(kibibytes) / 1024
  }
  return { rss: mebibytes('VmRSS'), anonymous: mebibytes('RssAnon'), peak: mebibytes('VmHWM') }
}

/** Seconds of processor time so far; 0 where nobody says. */
export function readCpuSeconds(pid: number): number {
  if (usageMissing !== undefined) return 0
  // The name, in parentheses, may hold anything; the times are fields 14 and 15 of proc(5).
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The processes that a process has started; none where nobody says. */
export function readChildren(pid: number | undefined): readonly number[] {
  if (usageMissing !== undefined || pid === undefined) return []
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map(Number)
}

export function resetPeak(pid: number): void {
  // 5: see proc(5).
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
