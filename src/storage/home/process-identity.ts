/**
 * Tells processes apart, also when a process id has been used again, and machines that share a data
 * directory over a network.
 *
 * The id of the machine is private: it is only ever kept as a keyed hash, as machine-id(5) asks.
 *
 * Reads files of the kernel, and one of the system, of a line or two: waiting for a thread of the
 * pool would take longer than they do.
 * @module
 */

import { createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { isPidTaken } from '../../lib/system-error.ts'

/** Elsewhere the same paths are free for everybody: on Windows, below the root of the drive. */
const IS_LINUX: boolean = process.platform === 'linux'

/** The files of systemd, and of D-Bus where there is no systemd. */
const ID_FILES: readonly string[] = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** Exists when systemd made up an id for this boot only, and put it over the first file. */
const TRANSIENT_ID_FILE = '/run/machine-id'

const MACHINE_ID = /^[0-9a-f]{32}\n?$/

const PURPOSE = 'clipgate: lock of a data directory'

/** The most letters, digits, dots and dashes in the name of a machine. */
const MAX_NAME_LENGTH = 64

/** A process. What is `undefined` cannot be found out on this platform. */
export interface ProcessIdentity {
  readonly pid: number
  /** The start of the process, in clock ticks since the boot. */
  readonly processStart: string | undefined
  readonly bootId: string | undefined
  /** The time of that boot in Unix seconds; it moves when the clock is set. */
  readonly bootTime: number | undefined
  /** `id:` and a hash of the id of the machine, or `host:` and a hash of its name. */
  readonly machine: string | undefined
  readonly host: string | undefined
}

type Boot = Pick<ProcessIdentity, 'bootId' | 'bootTime'>

/** A disciplined clock moves by less than this; no machine boots again within it. */
const SAME_BOOT_SECONDS = 5

/** Identifies this program. */
export function identifySelf(): ProcessIdentity {
  const { pid } = process
  return { pid, processStart: readStat(pid)?.start, ...readBoot(), ...identifyMachine() }
}

/** Whether a process is, or was, one of another machine: then nothing can be known of it here. */
export function isElsewhere(identity: ProcessIdentity): boolean {
  const { machine } = identifyMachine()
  return isAnotherMachine(identity, { machine, bootId: readBoot().bootId })
}

/** Whether exactly that process of this machine is still there. */
export function isAlive({ pid, processStart, ...boot }: ProcessIdentity): boolean {
  if (isAnotherBoot(boot, readBoot())) return false
  if (!isPidTaken(pid)) return false
  const stat = readStat(pid)
  if (stat === undefined) return true
  // A zombie has ended; only its parent has not looked yet.
  if (stat.state === 'Z' || stat.state === 'X') return false
  // One that has the id now started later. Emulators of processors tell a program an earlier or a
  // later start of its own than others see.
  return !(Number(stat.start) > Number(processStart))
}

/** State and start time from `/proc/<pid>/stat`, see proc_pid_stat(5), fields 3 and 22. */
function readStat(pid: number): { state: string; start: string } | undefined {
  const text = readSystemFile(`/proc/${pid}/stat`)
  // Field 2 is the program's name, in parentheses, and may contain anything.
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  const start = fields[18]
  return state === undefined || start === undefined ? undefined : { state, start }
}

/** Compares times as well: programs of one container may see ids that are not the same. */
function isAnotherBoot(then: Boot, now: Boot): boolean {
  if (then.bootId === undefined || now.bootId === undefined || then.bootId === now.bootId)
    return false
  if (then.bootTime === undefined || now.bootTime === undefined) return true
  return Math.abs(then.bootTime - now.bootTime) > SAME_BOOT_SECONDS
}

/** This boot of the machine. */
export function readBoot(): Boot {
  const id = readSystemFile('/proc/sys/kernel/random/boot_id')
  const time = /^btime (\d+)$/m.exec(readSystemFile('/proc/stat') ?? '')?.[1]
  return { bootId: id?.trim(), bootTime: time === undefined ? undefined : Number(time) }
}

function readSystemFile(path: string): string | undefined {
  if (!IS_LINUX) return undefined
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // Missing, or hidden from us: then it cannot be known.
    return undefined
  }
}

/** Identifies this machine. */
export function identifyMachine(): Pick<ProcessIdentity, 'machine' | 'host'> {
  const host = hostname()
  const id = readMachineId()
  if (id !== undefined) return { machine: `id:${hash(id)}`, host }
  // Laptops of other platforms are called otherwise in each network.
  const isNamed = IS_LINUX && host !== '' && host !== 'localhost'
  return { machine: isNamed ? `host:${hash(host)}` : undefined, host }
}

/**
 * Whether the process is one of another machine, or of a container that may not see our processes.
 * One with an id is, where this machine has none. A name and an id cannot be compared: that counts
 * as unknown. Names count less than ids: each container has its own, so they say nothing during one
 * boot of the machine.
 */
export function isAnotherMachine(
  then: Pick<ProcessIdentity, 'machine' | 'bootId'>,
  now: Pick<ProcessIdentity, 'machine' | 'bootId'>,
): boolean {
  if (then.machine === undefined || then.machine === now.machine) return false
  if (then.machine.startsWith('id:')) return true
  if (now.machine === undefined || now.machine.startsWith('id:')) return false
  return then.bootId === undefined || then.bootId !== now.bootId
}

/** The name of a machine as it may be printed: whoever can write the lock chose it. */
export function printableHost(host: string | undefined): string {
  return (host ?? 'unknown').slice(0, MAX_NAME_LENGTH).replace(/[^\w.-]/g, '?')
}

function readMachineId(): string | undefined {
  if (!IS_LINUX || existsSync(TRANSIENT_ID_FILE)) return undefined
  // In images of systems they are empty, or say "uninitialized".
  const isId = (text: string | undefined): boolean => text !== undefined && MACHINE_ID.test(text)
  return ID_FILES.map(readSystemFile).find(isId)?.trim()
}

function hash(secret: string): string {
  return createHmac('sha256', secret).update(PURPOSE).digest('hex').slice(0, 32)
}
