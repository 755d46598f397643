/**
 * A control group of Linux with little memory and little processor time, in either version.
 *
 * Memory of a group is all that its processes have caused, what the kernel keeps of their files
 * included.
 * @module
 */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface CgroupLimits {
  readonly memoryBytes: number
  /** Shares of one processor. */
  readonly processors: number
}

export interface Cgroup {
  readonly version: 1 | 2
  /** A process joins by writing its id, or 0 for itself, to each of these. */
  readonly joinFiles: readonly string[]
  /** Bytes now, at most so far, and how often a process was killed because memory ran out. */
  read(): { readonly usage: number; readonly peak: number | undefined; readonly killed: number }
  /** How long it was kept from running, in seconds. */
  throttledSeconds(): number
  /** All its processes must have ended. */
  remove(): void
}

export interface CgroupSurroundings {
  /** Where control groups are mounted. */
  readonly root: string
  /** The text of `/proc/self/cgroup`. */
  readonly membership: string
}

/** Microseconds in which the share of a processor is counted; the default of the kernel. */
const PERIOD_US = 100_000

const HERE = (): CgroupSurroundings => ({
  root: '/sys/fs/cgroup',
  membership: existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '',
})

/** Makes a group below our own. @returns Why there can be none, if so. */
export function createCgroup(
  name: string,
  limits: CgroupLimits,
  surroundings: CgroupSurroundings = HERE(),
): Cgroup | string {
  const { root, membership } = surroundings
  try {
    const [memory, cpu] = ['memory', 'cpu'].map((controller) =>
      findV1Folder(root, membership, controller),
    )
    if (memory !== undefined && cpu !== undefined) {
      return createV1(join(memory, name), join(cpu, name), limits)
    }
    const parent = findV2Folder(root, membership)
    if (parent !== undefined) return createV2(join(parent, name), limits)
    return 'needs control groups of Linux for memory and processor time'
  } catch (error) {
    return `cannot make a control group: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** `4:memory:/path` in cgroups(7). */
function findV1Folder(root: string, membership: string, wanted: string): string | undefined {
  for (const [, controllers = '', path = ''] of membership.matchAll(/^\d+:([^:\n]+):(.*)$/gm)) {
    if (!controllers.split(',').includes(wanted)) continue
    const folder = [controllers, wanted].map((name) => join(root, name, path)).find(existsSync)
    if (folder !== undefined) return folder
  }
  return undefined
}

/**
 * The nearest group above us that hands both controllers on: ours seldom does, since a group with
 * processes of its own must not.
 */
function findV2Folder(root: string, membership: string): string | undefined {
  const path = /^0::(.*)$/m.exec(membership)?.[1]
  if (path === undefined) return undefined
  for (let folder = join(root, path); ; folder = dirname(folder)) {
    const file = join(folder, 'cgroup.subtree_control')
    const controllers = existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ') : []
    if (controllers.includes('memory') && controllers.includes('cpu')) return folder
    if (folder === root || folder === dirname(folder)) return undefined
  }
}

function createV1(memory: string, cpu: string, limits: CgroupLimits): Cgroup {
  mkdirSync(memory)
  mkdirSync(cpu)
  writeFileSync(join(memory, 'memory.limit_in_bytes'), String(limits.memoryBytes))
  writeOptional(join(memory, 'memory.memsw.limit_in_bytes'), String(limits.memoryBytes))
  writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(PERIOD_US))
  writeFileSync(join(cpu, 'cpu.cfs_quota_us'), String(limits.processors * PERIOD_US))
  return {
    version: 1,
    joinFiles: [join(memory, 'cgroup.procs'), join(cpu, 'cgroup.procs')],
    read: () => ({
      usage: Number(readFileSync(join(memory, 'memory.usage_in_bytes'), 'utf8')),
      peak: Number(readFileSync(join(memory, 'memory.max_usage_in_bytes'), 'utf8')),
      killed: readField(join(memory, 'memory.oom_control'), 'oom_kill'),
    }),
    throttledSeconds: () => readField(join(cpu, 'cpu.stat'), 'throttled_time') / 1e9,
    remove: () => {
      for (const folder of [memory, cpu]) rmdirSync(folder)
    },
  }
}

function createV2(folder: string, limits: CgroupLimits): Cgroup {
  mkdirSync(folder)
  writeFileSync(join(folder, 'memory.max'), String(limits.memoryBytes))
  writeOptional(join(folder, 'memory.swap.max'), '0')
  writeFileSync(join(folder, 'cpu.max'), `${limits.processors * PERIOD_US} ${PERIOD_US}`)
  const peak = join(folder, 'memory.peak')
  return {
    version: 2,
    joinFiles: [join(folder, 'cgroup.procs')],
    read: () => ({
      usage: Number(readFileSync(join(folder, 'memory.current'), 'utf8')),
      // Since Linux 5.19.
      peak: existsSync(peak) ? Number(readFileSync(peak, 'utf8')) : undefined,
      killed: readField(join(folder, 'memory.events'), 'oom_kill'),
    }),
    throttledSeconds: () => readField(join(folder, 'cpu.stat'), 'throttled_usec') / 1e6,
    remove: () => rmdirSync(folder),
  }
}

/** Where memory on disk is not counted, there is nothing to limit. */
function writeOptional(file: string, text: string): void {
  if (existsSync(file)) writeFileSync(file, text)
}

/** `name 12`, a line of its own. */
function readField(file: string, name: string): number {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1]
  if (found === undefined) throw new Error(`Cannot read "${name}" of a control group`)
  return Number(found)
}
