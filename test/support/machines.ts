/**
 * Machines and the cables between them, where this one lets us make them: each is a network
 * namespace, and none of them has a way out.
 * @module
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { needs } from './requirements.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { execute } from './execute.ts'

const MOUNT = 'mount --bind "$0" /etc/hosts && exec "$@"'

/** Options for `it()`. */
export function needsMachines(...tools: readonly string[]): { readonly skip: string | false } {
  const isRoot = process.geteuid?.() === 0
  return isRoot ? needs('ip', 'curl', ...tools) : { skip: 'skipped: needs root, to make a network' }
}

export interface Machine {
  readonly name: string
  /** The beginning of a command that runs others there. */
  readonly inside: readonly string[]
  /** Forgets the names that it knows, for these with their addresses. */
  learn(hosts: Readonly<Record<string, string>>): Promise<void>
  /** `ip`, there. */
  ip(...args: readonly string[]): Promise<void>
  /** Runs a program there, and returns what it printed. */
  run(...command: readonly string[]): Promise<string>
  /** Runs curl there, and returns what it printed. */
  curl(...args: readonly string[]): Promise<string>
}

/**
 * Makes a machine without a cable. It is gone when the test ends.
 *
 * @param hosts The names that it knows, with their addresses; those of this machine unless given.
 */
export async function makeMachine(
  t: TestContext,
  role: string,
  hosts?: Readonly<Record<string, string>>,
): Promise<Machine> {
  const name = `clipgate-${role}-${process.pid}-${randomBytes(3).toString('hex')}`
  await execute('ip', ['netns', 'add', name])
  t.after(() => execute('ip', ['netns', 'delete', name]))
  await execute('ip', ['-n', name, 'link', 'set', 'lo', 'up'])
  const list = hosts && join(await temporaryFolder(t), 'hosts')
  const learn = async (more: Readonly<Record<string, string>>): Promise<void> => {
    assert.ok(list !== undefined, 'It has the names of this machine')
    const lines = Object.entries(more).map(([host, address]) => `${address} ${host}\n`)
    await writeFile(list, `127.0.0.1 localhost\n${lines.join('')}`)
  }
  if (hosts !== undefined) await learn(hosts)
  // Each command there has mounts of its own already, so this one is seen by nobody else.
  const known = list === undefined ? [] : ['sh', '-c', MOUNT, list]
  const inside = ['ip', 'netns', 'exec', name, ...known]
  const runThere = async (...command: readonly string[]): Promise<string> => {
    const [program = '', ...args] = [...inside, ...command]
    return (await execute(program, args, { maxBuffer: Infinity })).stdout
  }
  return {
    name,
    inside,
    learn,
    ip: async (...args) => void (await execute('ip', ['-n', name, ...args])),
    run: runThere,
    curl: (...args) => runThere('curl', '-sS', '--max-time', '20', ...args),
  }
}

/** Two ends, as `10.213.8.1/24`, on devices of this name. */
export async function plug(
  device: string,
  [from, fromAddress]: readonly [Pick<Machine, 'ip'>, string],
  [to, toAddress]: readonly [Machine, string],
): Promise<void> {
  await from.ip('link', 'add', device, 'type', 'veth', 'peer', 'name', device, 'netns', to.name)
  for (const [machine, address] of [
    [from, fromAddress],
    [to, toAddress],
  ] as const) {
    // IPv6 has one of its own a second later, at which Chromium breaks off what it is loading.
    await machine.ip('link', 'set', device, 'addrgenmode', 'none')
    await machine.ip('address', 'add', address, 'dev', device)
    await machine.ip('link', 'set', device, 'up')
  }
}
