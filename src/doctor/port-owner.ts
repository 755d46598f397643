/**
 * Finds out which program listens on a port, as far as Linux tells this user.
 *
 * @module
 */

import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { readSystemFile, type Machine } from './machine.ts'

export interface ListeningSocket {
  readonly port: number
  /** Number of the socket, as links in `/proc/<pid>/fd` have it. */
  readonly inode: string
}

/** TCP_LISTEN of the kernel. */
const LISTENING = '0A'

/** `4711 (nginx)`; `undefined` when it cannot be known. */
export async function findPortOwner(machine: Machine, port: number): Promise<string | undefined> {
  const tables = await Promise.all(
    ['proc/net/tcp', 'proc/net/tcp6'].map((path) => readSystemFile(machine, path)),
  )
  const inodes = tables
    .flatMap((text = '') => parseSocketTable(text))
    .filter((socket) => socket.port === port)
    .map(({ inode }) => `socket:[${inode}]`)
  if (inodes.length === 0) return undefined
  for (const pid of await listFolder(machine, 'proc')) {
    if (!/^\d+$/.test(pid) || !(await hasOpen(machine, pid, inodes))) continue
    const name = await readSystemFile(machine, `proc/${pid}/comm`)
    return `${pid} (${name?.trim() ?? 'unknown'})`
  }
  return undefined
}

/** The listening sockets in `/proc/net/tcp` or `tcp6`; see proc_net(5). Skips every other line. */
export function parseSocketTable(text: string): readonly ListeningSocket[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/)
    const port = /^[0-9A-F]+:([0-9A-F]{4})$/.exec(fields[1] ?? '')?.[1]
    const inode = fields[9]
    if (port === undefined || fields[3] !== LISTENING || !/^\d+$/.test(inode ?? '')) return []
    return [{ port: Number.parseInt(port, 16), inode: inode ?? '' }]
  })
}

async function hasOpen(machine: Machine, pid: string, links: readonly string[]): Promise<boolean> {
  const folder = `proc/${pid}/fd`
  for (const name of await listFolder(machine, folder)) {
    try {
      if (links.includes(await readlink(join(machine.root, folder, name)))) return true
    } catch {
      // Closed since it was listed.
    }
  }
  return false
}

async function listFolder({ root }: Machine, path: string): Promise<readonly string[]> {
  try {
    return await readdir(join(root, path))
  } catch {
    // Somebody else's process, gone, or not Linux.
    return []
  }
}
