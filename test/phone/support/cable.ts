/**
 * A machine for browsers at the other end of a cable, so that the page has the address of a real
 * network, which no browser trusts.
 * @module
 */

import type { TestContext } from 'node:test'
import { makeMachine, plug, type Machine } from '../../support/machines.ts'
import { execute } from '../../support/execute.ts'

/** In this process. */
let laid = 0

export interface Cable {
  readonly machine: Machine
  /** The address of that machine. */
  readonly address: string
  /** The address of this one, on the cable. */
  readonly here: string
}

/** Plugs one in. It is gone when the test ends. */
export async function layCable(t: TestContext): Promise<Cable> {
  // Cables of other tests, and of other runs on this machine, go on beside this one.
  const number = (process.pid * 16 + laid++) % 0x40000
  const network = `10.${208 + (number >> 14)}.${(number >> 6) & 255}`
  const [here, address] = [
    `${network}.${(number & 63) * 4 + 1}`,
    `${network}.${(number & 63) * 4 + 2}`,
  ]
  const machine = await makeMachine(t, 'browser')
  const ip = async (...args: readonly string[]): Promise<void> => {
    await execute('ip', args)
  }
  await plug(`clip${number}`, [{ ip }, `${here}/30`], [machine, `${address}/30`])
  return { machine, address, here }
}
