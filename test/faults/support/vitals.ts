/**
 * How a daemon fares, told by the system: its memory, its descriptors, its files.
 * @module
 */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DaemonProcess } from '../../support/daemon-process.ts'

/** Options for tests that look at memory and descriptors. */
export const needsProc: { readonly skip: string | false } = {
  skip: existsSync('/proc/self/clear_refs') ? false : 'skipped: needs Linux',
}

/** Options for tests that write `gibibytes` GiB. */
export function needsDisk(gibibytes: number): { readonly skip: string | false } {
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize > gibibytes * 2 ** 30) return needsProc
  const reason = `needs ${gibibytes} GiB of disk`
  if (process.env['CLIPGATE_TEST_REQUIRE'] === 'all') throw new Error(`This test ${reason}`)
  return { skip: `skipped: ${reason}` }
}

export interface Vitals {
  /** MiB that are resident now. */
  memory(): number
  /** The most MiB that were resident since {@link resetPeak}, or since the start. */
  peak(): number
  resetPeak(): void
  descriptors(): number
  /** Names of the files in which uploads and items are. */
  blobs(): readonly string[]
  /** Those, and the records of what waits. */
  uploads(): readonly string[]
  /** Resolves when no more descriptors are open and these are the files; asks it all the time. */
  settled(expected: {
    readonly descriptors?: number
    readonly uploads?: readonly string[]
  }): Promise<void>
}

/** Looks at a daemon from outside. */
export function vitalsOf({ ready, folder }: DaemonProcess): Vitals {
  const proc = `/proc/${ready.pid}`
  const mebibytes = (name: string): number => {
    const status = readFileSync(`${proc}/status`, 'utf8')
    return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024)
  }
  const list = (name: string): readonly string[] => readdirSync(join(folder, 'data', name)).sort()
  const vitals: Vitals = {
    memory: () => mebibytes('VmRSS'),
    peak: () => mebibytes('VmHWM'),
    resetPeak: () => writeFileSync(`${proc}/clear_refs`, '5'),
    descriptors: () => readdirSync(`${proc}/fd`).length,
    blobs: () => list('blobs'),
    uploads: () => [...list('blobs'), ...list('staging')],
    settled: async ({ descriptors, uploads }) => {
      const fits = (): boolean =>
        (descriptors === undefined || vitals.descriptors() <= descriptors) &&
        (uploads === undefined || vitals.uploads().join() === uploads.join())
      // Each answer comes after all that the daemon was told before.
      for (let looks = 0; looks < 5000 && !fits(); looks++) await isWell(ready.gateway)
      const open = vitals.descriptors()
      if (descriptors !== undefined) assert.ok(open <= descriptors, `${open} of ${descriptors}`)
      if (uploads !== undefined) assert.deepEqual(vitals.uploads(), uploads)
    },
  }
  return vitals
}

/** Whether it answers, on a connection that leaves nothing behind. */
async function isWell(gateway: string): Promise<void> {
  const { status } = await fetch(`${gateway}/healthz`, { headers: { connection: 'close' } })
  assert.equal(status, 204)
}
