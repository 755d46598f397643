/**
 * Two machines and a cable, where this one lets us make them: each a network namespace.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { needs } from '../../support/requirements.ts'

/** Options for `it()`. */
export const needsNetwork: { readonly skip: string | false } =
  process.geteuid?.() === 0
    ? needs('ip', 'curl')
    : { skip: 'skipped: needs root, to make a network' }

const run = promisify(execFile)

export interface Machine {
  /** The beginning of a command that runs others there. */
  readonly inside: readonly string[]
  /** `ip`, there. */
  ip(...args: readonly string[]): Promise<void>
  /** Runs curl there, and returns what it printed. */
  curl(...args: readonly string[]): Promise<string>
}

export interface Network {
  /** Has the address 10.213.8.1 on `lan0`. */
  readonly desk: Machine
  /** Has the address 10.213.8.2 on `lan0`, and 10.213.9.2. */
  readonly phone: Machine
}

export async function makeNetwork(t: TestContext): Promise<Network> {
  const [desk, phone] = [await makeMachine(t, 'desk'), await makeMachine(t, 'phone')]
  await desk.ip('link', 'add', 'lan0', 'type', 'veth', 'peer', 'name', 'lan0', 'netns', phone.name)
  await desk.ip('address', 'add', '10.213.8.1/24', 'dev', 'lan0')
  for (const address of ['10.213.8.2/24', '10.213.9.2/24']) {
    await phone.ip('address', 'add', address, 'dev', 'lan0')
  }
  for (const machine of [desk, phone]) {
    for (const device of ['lo', 'lan0']) await machine.ip('link', 'set', device, 'up')
  }
  return { desk, phone }
}

interface NamedMachine extends Machine {
  readonly name: string
}

async function makeMachine(t: TestContext, role: string): Promise<NamedMachine> {
  const name = `clipgate-${role}-${process.pid}`
  await run('ip', ['netns', 'add', name])
  t.after(() => run('ip', ['netns', 'delete', name]))
  const inside = ['ip', 'netns', 'exec', name]
  return {
    name,
    inside,
    ip: async (...args) => void (await run('ip', ['-n', name, ...args])),
    curl: async (...args) => {
      const [program = '', ...own] = [...inside, 'curl', '-sS', '--max-time', '20', ...args]
      return (await run(program, own)).stdout
    },
  }
}
