/**
 * Tells processes apart, also when a process id has been used again.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { codeOf } from '../lib/system-error.ts'
import { identifyMachine, isAnotherMachine, type MachineIdentity } from './machine-identity.ts'

/** What is `undefined` cannot be found out on this platform. */
export interface ProcessIdentity extends MachineIdentity {
  readonly pid: number
  /** When it started, in clock ticks since the boot. */
  readonly processStart: string | undefined
  /** Which boot of the machine it belongs to. */
  readonly bootId: string | undefined
  /** When that was, in Unix seconds; moves when the clock is set. */
  readonly bootTime: number | undefined
}

type Boot = Pick<ProcessIdentity, 'bootId' | 'bootTime'>

/** A clock that is disciplined moves by less; no machine boots again within that. */
const SAME_BOOT_SECONDS = 5

/** Who this program is. */
export async function identifySelf(): Promise<ProcessIdentity> {
  const { pid } = process
  const machine = await identifyMachine()
  return { pid, processStart: (await readStat(pid))?.start, ...(await readBoot()), ...machine }
}

/** Whether a process is, or was, one of another machine: then nothing can be known of it here. */
export async function isElsewhere(identity: ProcessIdentity): Promise<boolean> {
  const [{ machine }, { bootId }] = await Promise.all([identifyMachine(), readBoot()])
  return isAnotherMachine(identity, { machine, bootId })
}

/** Whether exactly that process of this machine is still there. */
export async function isAlive({ pid, processStart, ...boot }: ProcessIdentity): Promise<boolean> {
  if (isAnotherBoot(boot, await readBoot())) return false
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

/** Which boot of the machine this is; `undefined` where that cannot be found out. */
export async function readBootId(): Promise<string | undefined> {
  return (await readBoot()).bootId
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

/**
 * Containers may show an id of their own, and not the same one to all of their programs: then the
 * time counts as well.
 */
function isAnotherBoot(then: Boot, now: Boot): boolean {
  if (then.bootId === undefined || now.bootId === undefined || then.bootId === now.bootId)
    return false
  if (then.bootTime === undefined || now.bootTime === undefined) return true
  return Math.abs(then.bootTime - now.bootTime) > SAME_BOOT_SECONDS
}

async function readBoot(): Promise<Boot> {
  const id = await readSystemFile('/proc/sys/kernel/random/boot_id')
  const time = /^btime (\d+)$/m.exec((await readSystemFile('/proc/stat')) ?? '')?.[1]
  return { bootId: id?.trim(), bootTime: time === undefined ? undefined : Number(time) }
}

async function readSystemFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'latin1')
  } catch {
    // Not Linux, or hidden from us: then it cannot be known.
    return undefined
  }
}
