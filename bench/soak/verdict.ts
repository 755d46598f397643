/**
 * Judges a soak.
 * @module
 */

import { formatTable } from '../../src/cli/text-table.ts'
import type { Heap, Usage } from './daemon.ts'
import { mediansOf, slopeOf, type Slope } from './slope.ts'
import type { Tally } from './tally.ts'

/** Usage at a time, in minutes. */
export interface Sample extends Usage {
  readonly at: number
}

interface Rest extends Usage {
  readonly heap: Heap
  readonly open: readonly string[]
}

export interface SoakFindings {
  readonly minutes: number
  readonly seed: number
  /** The load of the machine; figures of a busy machine say less. */
  readonly load: number
  readonly before: Rest
  readonly after: Rest
  readonly samples: readonly Sample[]
  readonly tally: Tally
  readonly debris: readonly string[]
  readonly exitCode: number | null
  /** Its warnings and errors. */
  readonly log: readonly string[]
}

export interface SoakResult extends Omit<SoakFindings, 'tally'> {
  readonly requests: number
  readonly answers: Tally['counts']
  readonly faults: readonly string[]
  readonly faultCount: number
  /** MiB a minute. */
  readonly slopes: { readonly rss: Slope | undefined; readonly anonymous: Slope | undefined }
  readonly failures: readonly string[]
}

/** So many medians are compared; see `slope.ts`. */
const SPANS = 20

/** Before that, an engine is still finding its size. */
const MIN_MINUTES = 5

/** More of the log say nothing new. */
const MAX_LINES = 20

/** A slope that is surely steeper is a leak: a hundred MiB in a day. */
const MAX_SLOPE = 100 / (24 * 60)

/** More than that, in MiB, does not stay on the heap without being kept for good. */
const MAX_HEAP_GROWTH = 4

export function judgeSoak({ tally, ...findings }: SoakFindings): SoakResult {
  const { samples } = findings
  const slopeIn = (name: 'rss' | 'anonymous'): Slope | undefined => {
    return slopeOf(
      mediansOf(
        samples.map(({ at, [name]: value }) => ({ at, value })),
        SPANS,
      ),
    )
  }
  const slopes = { rss: slopeIn('rss'), anonymous: slopeIn('anonymous') }
  const { counts: answers, faults, faultCount, total: requests } = tally
  const failures = failuresOf({ tally, ...findings }, slopes)
  return { ...findings, requests, answers, faults, faultCount, slopes, failures }
}

function failuresOf(findings: SoakFindings, slopes: SoakResult['slopes']): readonly string[] {
  const { minutes, before, after, tally, debris, exitCode, log } = findings
  const failures: string[] = []
  const isLong = minutes >= MIN_MINUTES
  for (const [name, slope] of Object.entries(slopes)) {
    if (isLong && slope !== undefined && slope.low > MAX_SLOPE) {
      failures.push(`${name} memory grows: ${describeSlope(slope)}`)
    }
  }
  const grown = sizeOf(after.heap) - sizeOf(before.heap)
  if (isLong && grown > MAX_HEAP_GROWTH) failures.push(`the heap grew by ${grown.toFixed(1)} MiB`)
  if (after.descriptors > before.descriptors) {
    failures.push(`descriptors leak: ${leftOver(before.open, after.open).join()}`)
  }
  const threads = after.threads - before.threads
  if (threads > 0) failures.push(`${threads} threads leak`)
  if (tally.faultCount > 0) failures.push(`${tally.faultCount} wrong answers`)
  if (debris.length > 0) failures.push(`debris: ${debris.join()}`)
  if (log.length > 0) failures.push(`${log.length} warnings and errors in the log`)
  if (exitCode !== 0) failures.push(`it ended with ${exitCode}`)
  return failures
}

function sizeOf({ used, external }: Heap): number {
  return used + external
}

/** What is there more often than before. */
function leftOver(before: readonly string[], after: readonly string[]): readonly string[] {
  const left = [...after]
  for (const thing of before) {
    const at = left.indexOf(thing)
    if (at !== -1) left.splice(at, 1)
  }
  return left
}

export function printVerdict(result: SoakResult): void {
  const { requests, answers, faults, log, failures } = result
  console.log()
  for (const line of formatTable(tableOf(result), undefined)) console.log(line)
  console.log(`\n${requests} things done:`)
  for (const [who, outcomes] of Object.entries(answers)) {
    const parts = Object.entries(outcomes).map(([outcome, count]) => `${count} × ${outcome}`)
    console.log(`  ${who}: ${parts.join(', ')}`)
  }
  for (const line of [...faults, ...log.slice(0, MAX_LINES)]) console.log(`! ${line}`)
  console.log(failures.length === 0 ? '\nNothing grew, leaked or was wrong' : '\nFAILED:')
  for (const failure of failures) console.log(`  ${failure}`)
}

function tableOf({ before, after, samples, slopes }: SoakResult): readonly (readonly string[])[] {
  const usage = (what: string, name: keyof Usage, slope = ''): readonly string[] => {
    const most = Math.max(...samples.map((sample) => sample[name]))
    return [what, format(before[name]), format(most), format(after[name]), slope]
  }
  const heap = (what: string, name: keyof Heap): readonly string[] => {
    return [what, format(before.heap[name]), '', format(after.heap[name]), '']
  }
  return [
    ['', 'at rest before', 'most', 'at rest after', 'a minute (95 % confidence)'],
    usage('resident memory, MiB', 'rss', describeSlope(slopes.rss)),
    usage('of that anonymous', 'anonymous', describeSlope(slopes.anonymous)),
    heap('heap after a collection', 'used'),
    heap('outside of the heap', 'external'),
    usage('descriptors', 'descriptors'),
    usage('threads', 'threads'),
  ]
}

function describeSlope(slope: Slope | undefined): string {
  if (slope === undefined) return 'too short to tell'
  const { perUnit, low, high } = slope
  return `${perUnit.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`
}

function format(amount: number): string {
  return Number.isInteger(amount) ? String(amount) : amount.toFixed(1)
}
