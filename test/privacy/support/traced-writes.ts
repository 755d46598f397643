/**
 * Everything that programs write, as the kernel sees it: also files that exist for a moment only.
 * @module
 */

import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const WRITES = ['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'sendto', 'sendmsg']

/** Calls that give names to files. */
const NAMES = ['openat', 'mkdir', 'rename', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat']

/** Longer writes are cut; secrets repeat themselves long before. */
const MAX_BYTES = 65_536

/** What one system call wrote. */
export interface TracedCall {
  readonly name: string
  /** The descriptor that was written to; -1 for calls that take names. */
  readonly descriptor: number
  /** What that is: a path, or `socket:[…]` and the like. Of a name, the name itself. */
  readonly target: string
  readonly bytes: Buffer
}

/**
 * The beginning of a command that traces another one into files in `folder`. The other one keeps
 * its process id, and hears its signals.
 */
export function tracer(folder: string): readonly string[] {
  const calls = [...WRITES, ...NAMES, 'execve'].join()
  const how = ['-D', '-f', '-ff', '-xx', '-y', '-s', String(MAX_BYTES)]
  const what = ['-e', 'signal=none', '-e', `trace=${calls}`]
  return ['strace', ...how, ...what, '-o', join(folder, 'trace')]
}

/** What was traced into a folder. */
export async function readTraces(folder: string): Promise<readonly TracedCall[]> {
  const calls: TracedCall[] = []
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'latin1')
    for (const line of text.split('\n')) calls.push(...parseCall(line))
  }
  return calls
}

/** Each name that a call takes is one of its own. */
function parseCall(line: string): readonly TracedCall[] {
  const [, name = '', args = ''] = /^(\w+)\((.*)/.exec(line) ?? []
  if (name === '') return []
  const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => decode(hex))
  if (NAMES.includes(name)) {
    return strings.map((bytes) => ({ name, descriptor: -1, target: String(bytes), bytes }))
  }
  const [, descriptor, target = ''] = /^(\d+)<((?:\\x[0-9a-f]{2})*)>/.exec(args) ?? []
  const bytes = Buffer.concat(strings)
  return [{ name, descriptor: Number(descriptor), target: String(decode(target)), bytes }]
}

function decode(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll('\\x', ''), 'hex')
}
