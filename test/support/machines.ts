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
  [from, fromAddress]: readonly [Machine, string],
  [to, toAddress]: readonly [Machine, string],
): Promise<void> {
  await from.ip('link', 'add', device, 'type', 'veth', 'peer', 'name', device, 'netns', to.name)
  await bringUp(from.ip, device, fromAddress)
  await bringUp(to.ip, device, toAddress)
}

/** A machine, and a cable to this one with addresses of a real network, which no browser trusts. */
export interface Cable {
  readonly machine: Machine
  /** The address of that machine. */
  readonly address: string
  /** The address of this one, on the cable. */
  readonly here: string
  /** Pulls it out. */
  pull(): Promise<void>
}

/** In this process. */
let laid = 0

/**
 * Makes a machine at the other end of a cable. Both are gone when the test ends.
 *
 * The addresses of this machine stay what they are: every Chromium here breaks off what it loads
 * when one comes or goes, in the tests beside this one, too.
 */
export async function layCable(t: TestContext, role: string): Promise<Cable> {
  // Cables of other tests, and of other runs on this machine, go on beside this one.
  const number = (process.pid * 16 + laid++) % 0x40000
  const network = `10.${208 + (number >> 14)}.${(number >> 6) & 255}`
  const host = (number & 63) * 4
  const [here, address] = [`${network}.${host + 1}`, `${network}.${host + 2}`]
  const device = `clip${number}`
  const machine = await makeMachine(t, role)
  const ip = async (...args: readonly string[]) => void (await execute('ip', args))
  await ip('link', 'add', device, 'type', 'veth', 'peer', 'name', device, 'netns', machine.name)
  await bringUp(machine.ip, device, `${address}/30`)
  await bringUp(ip, device)
  // Routes of the device, which go with it, and so not before what the test ends behind it.
  await ip('route', 'add', 'local', here, 'dev', device)
  await ip('route', 'add', address, 'dev', device, 'src', here)
  return { machine, address, here, pull: () => ip('link', 'set', device, 'down') }
}

async function bringUp(at: Machine['ip'], device: string, address?: string): Promise<void> {
  // IPv6 has one of its own a second later, at which Chromium breaks off what it is loading.
  await at('link', 'set', device, 'addrgenmode', 'none')
  if (address !== undefined) await at('address', 'add', address, 'dev', device)
  await at('link', 'set', device, 'up')
}
