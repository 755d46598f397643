/**
 * Real daemons as members of a group, each a process with a data directory of its own.
 *
 * @module
 */

import { writeFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type Client } from '../../../src/client/connect.ts'
import type { LatestDocument } from '../../../src/client/latest.ts'
import {
  startDaemonProcess, type DaemonOptions, type DaemonProcess,
} from '../../support/daemon-process.ts'
import { createPhone, type Phone } from '../../support/phone.ts'

export interface MemberDaemon {
  readonly daemon: DaemonProcess
  readonly phone: Phone
  readonly client: Client
  /** The URL of its gateway, which stays over restarts. */
  readonly gateway: string
}

/** Starts a headless daemon with a phone of its own. */
export async function startMemberDaemon(
  t: TestContext,
  options: DaemonOptions = {},
): Promise<MemberDaemon> {
  const daemon = await startDaemonProcess(t, { ...options, args: ['--headless', ...(options.args ?? [])] })
  const device = await daemon.pair('Phone')
  const { gateway } = daemon.ready
  const client = connect({ url: gateway, user: device.username, pwd: device.password })
  return { daemon, phone: createPhone(device, gateway), client, gateway }
}

/** Starts it again where it was. @returns Its process. */
export function restart(t: TestContext, { daemon, gateway }: MemberDaemon): Promise<DaemonProcess> {
  const { host } = new URL(gateway)
  return startDaemonProcess(t, { folder: daemon.folder, args: ['--headless', '--listen', host] })
}

/** `clipgate join`, with a link that was made on the other side. @returns The id of the device there. */
export async function joinDaemon(from: MemberDaemon, to: MemberDaemon): Promise<string> {
  const paired = await to.daemon.run('pair', '--json', '--kind', 'peer')
  const { link, id } = JSON.parse(paired.stdout)
  const file = joinPath(from.daemon.folder, 'link')
  await writeFile(file, link, { mode: 0o600 })
  await from.daemon.run('join', '--link-file', file)
  return id
}

/** Resolves when a member has an item that fits. */
export async function arrives(
  { client }: Pick<MemberDaemon, 'client'>,
  fits: (document: LatestDocument) => boolean,
): Promise<LatestDocument> {
  for await (const document of client.watch()) if (fits(document)) return document
  throw new Error('The watch ended')
}

/** What `clipgate peers --json` says of its one peer. */
export async function peerOf({ daemon }: Pick<MemberDaemon, 'daemon'>): Promise<Record<string, unknown>> {
  const [peer] = JSON.parse((await daemon.run('peers', '--json')).stdout)
  return peer
}
