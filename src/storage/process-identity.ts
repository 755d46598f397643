/**
 * Tells processes apart, also when a process id has been used again.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { codeOf } from '../lib/system-error.ts'

/** What is `undefined` cannot be found out on this platform. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in clock ticks since the boot. */
  readonly processStart: string | undefined
  /** Which boot of the machine it belongs to. */
  readonly bootId: string | undefined
}

/** Who this program is. */
export async function identifySelf(): Promise<ProcessIdentity> {
  const { pid } = process
  return { pid, processStart: (await readStat(pid))?.start, bootId: await readBootId() }
}

/** Whether exactly that process is still there. */
export async function isAlive({ pid, processStart, bootId }: ProcessIdentity): Promise<boolean> {
  const currentBoot = await readBootId()
  if (bootId !== undefined && currentBoot !== undefined && bootId !== currentBoot) return false
  if (!isPidTaken(pid)) return false
  const stat = await readStat(pid)
  if (stat === undefined) return true
  // A zombie has ended; only its parent has not looked yet.
  if (stat.state === 'Z' || stat.state === 'X') return false
  return processStart === undefined || processStart === stat.start
}

function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it belongs to somebody else.
    return codeOf(error) !== 'ESRCH'
  }
}

interface Stat {
  readonly state: string
  readonly start: string
}

/** State and start time from `/proc/<pid>/stat`, see proc_pid_stat(5), fields 3 and 22. */
async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readSystemFile(`/proc/${pid}/stat`)
  // Field 2 is the program's name, in parentheses, and may contain anything.
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  const start = fields[18]
  return state === undefined || start === undefined ? undefined : { state, start }
}

async function readBootId(): Promise<string | undefined> {
  return (await readSystemFile('/proc/sys/kernel/random/boot_id'))?.trim()
}

async function readSystemFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'latin1')
  } catch {
    // Not Linux, or hidden from us: then it cannot be known.
    return undefined
  }
}
