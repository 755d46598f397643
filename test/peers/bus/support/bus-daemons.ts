/** Real daemons as members of a group on a bus. @module */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { mintCircleKey } from '../../../../src/peers/bus/circle-key.ts'
import type { BusStatus } from '../../../../src/ports/bus.ts'
import type { DaemonOptions, DaemonProcess } from '../../../support/daemon-process.ts'
import { ownerOf } from '../../../support/owner.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { startMemberDaemon, type MemberDaemon } from '../../support/daemons.ts'
import { ItemLog } from '../../support/item-log.ts'

export const newKey = mintCircleKey

export interface BusDaemonOptions extends DaemonOptions {
  readonly key: string
  readonly url: string
}

/** Starts one, without waiting until it is on the bus. */
export async function startBusDaemon(
  t: TestContext,
  { key, url, args = [], ...options }: BusDaemonOptions,
): Promise<MemberDaemon> {
  const folder = options.folder ?? (await temporaryFolder(t))
  const data = join(folder, 'data')
  await mkdir(data, { recursive: true, mode: 0o700 })
  await writeFile(join(data, 'group.key'), key, { mode: 0o600 })
  return startMemberDaemon(t, { ...options, folder, args: ['--bus', url, ...args] })
}

/** Starts one on a bus that is there, and waits until it is connected. */
export async function startOnBus(t: TestContext, options: BusDaemonOptions): Promise<MemberDaemon> {
  const member = await startBusDaemon(t, options)
  await logs(member, /Connected to the bus/)
  return member
}

/** Resolves once a daemon has logged something that fits, this many times. */
export async function logs(
  { daemon }: { readonly daemon: Pick<DaemonProcess, 'child' | 'stderr'> },
  pattern: RegExp,
  times: number = 1,
): Promise<void> {
  const all = new RegExp(pattern.source, 'g')
  const { stderr } = daemon.child
  while ((daemon.stderr().match(all)?.length ?? 0) < times) {
    await new Promise<void>((resolve, reject) => {
      stderr?.once('data', () => setImmediate(resolve))
      daemon.child.once('close', () => reject(new Error(`It ended: ${daemon.stderr()}`)))
    })
  }
}

/** What a daemon tells of the bus. */
export async function busOf({ daemon }: Pick<MemberDaemon, 'daemon'>): Promise<BusStatus> {
  const { bus } = await (await ownerOf(daemon)).status()
  if (bus === undefined) throw new Error('It is on no bus')
  return bus
}

/** What becomes current at a member, from now on. */
export function logItems(t: TestContext, { daemon, phone }: MemberDaemon): Promise<ItemLog> {
  return ItemLog.open(t, daemon.ready.gateway, phone.authorization)
}
