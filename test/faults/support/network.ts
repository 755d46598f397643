/**
 * Two machines and a cable.
 * @module
 */

import type { TestContext } from 'node:test'
import { makeMachine, needsMachines, plug, type Machine } from '../../support/machines.ts'

/** Options for `it()`. */
export const needsNetwork: { readonly skip: string | false } = needsMachines()

export interface Network {
  /** Has the address 10.213.8.1 on `lan0`. */
  readonly desk: Machine
  /** Has the address 10.213.8.2 on `lan0`, and 10.213.9.2. */
  readonly phone: Machine
}

export async function makeNetwork(t: TestContext): Promise<Network> {
  const [desk, phone] = [await makeMachine(t, 'desk'), await makeMachine(t, 'phone')]
  await plug('lan0', [desk, '10.213.8.1/24'], [phone, '10.213.8.2/24'])
  await phone.ip('address', 'add', '10.213.9.2/24', 'dev', 'lan0')
  return { desk, phone }
}
