/** How a daemon fares, told by the system: its memory, its descriptors, its files. @module */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { DaemonProcess } from '../../support/daemon-process.ts'
import { without } from '../../support/requirements.ts'

/**
 * At the pace of the daemon: each look is a request. A client that sends what nobody wants is left
 * waiting for seconds, which are thousands of looks on a fast machine.
 */
export const MAX_LOOKS: number = 100_000

/** Options for tests that look at memory and descriptors. */
export const needsProc: { readonly skip: string | false } = {
  skip: existsSync('/proc/self/clear_refs') ? false : 'skipped: needs Linux',
}

/** Options for tests that write `gibibytes` GiB. */
export function needsDisk(gibibytes: number): { readonly skip: string | false } {
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bavail * bsize > gibibytes * 2 ** 30) return needsProc
  return without(`${gibibytes} GiB of disk`)
}

/** What `settled` waits for. */
interface Rest {
  readonly descriptors?: number
  readonly uploads?: readonly string[]
}

/** Looks at a daemon from outside. */
export function vitalsOf({ ready, folder }: DaemonProcess) {
  const proc = `/proc/${ready.pid}`
  const mebibytes = (name: string): number => {
    const status = readFileSync(`${proc}/status`, 'utf8')
    return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024)
  }
  const list = (name: string): readonly string[] => readdirSync(join(folder, 'data', name)).sort()
  const readDescriptors = (): number => readdirSync(`${proc}/fd`).length
  const readUploads = (): readonly string[] => [...list('blobs'), ...list('staging')]
  return {
    /** MiB that are resident now. */
    memory: () => mebibytes('VmRSS'),
    /** The most MiB that were resident since `resetPeak`, or since the start. */
    peak: () => mebibytes('VmHWM'),
    resetPeak: () => writeFileSync(`${proc}/clear_refs`, '5'),
    descriptors: readDescriptors,
    /** Names of the files in which uploads and items are. */
    blobs: () => list('blobs'),
    /** Those, and the records of what waits. */
    uploads: readUploads,
    /** Resolves when no more descriptors are open and these are the files; asks all the time. */
    settled: async ({ descriptors = Infinity, uploads }: Rest): Promise<void> => {
      const fits = (): boolean =>
        readDescriptors() <= descriptors &&
        (uploads === undefined || readUploads().join() === uploads.join())
      // Each answer comes after all that the daemon was told before.
      for (let looks = 0; looks < MAX_LOOKS && !fits(); looks++) await isWell(ready.gateway)
      const open = readDescriptors()
      assert.ok(open <= descriptors, `${open} of ${descriptors}`)
      if (uploads !== undefined) assert.deepEqual(readUploads(), uploads)
    },
  }
}

/** Remembers how a daemon fares, to compare it later. */
export function rememberVitals(t: TestContext, daemon: DaemonProcess) {
  const vitals = vitalsOf(daemon)
  const before = { descriptors: vitals.descriptors(), uploads: vitals.uploads() }
  const memory = vitals.memory()
  vitals.resetPeak()
  /** Checks how many MiB it took at most since, over what it had. */
  const hasGrownBy = (most: number): void => {
    const grown = vitals.peak() - memory
    t.diagnostic(`${grown} MiB over ${memory} MiB`)
    assert.ok(grown <= most, `${grown} MiB over ${memory} MiB`)
  }
  return { vitals, before, hasGrownBy }
}

/** Sets how many files a running daemon may have open. */
export function limitFiles({ ready }: DaemonProcess, count: number): void {
  execFileSync('prlimit', ['--pid', `${ready.pid}`, `--nofile=${count}:`])
}

/** Whether it answers, on a connection that leaves nothing behind. */
async function isWell(gateway: string): Promise<void> {
  const { status } = await fetch(`${gateway}/healthz`, { headers: { connection: 'close' } })
  assert.equal(status, 204)
}
