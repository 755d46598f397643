/** Real daemons as members of a group, each a process with a data directory of its own. @module */

import { writeFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type Client } from '../../../src/client/connect.ts'
import type { LatestDocument } from '../../../src/client/latest.ts'
import type { PeerSummary } from '../../../src/ports/peers.ts'
import {
  startDaemonProcess,
  type DaemonOptions,
  type DaemonProcess,
  type PairedDevice,
} from '../../support/daemon-process.ts'
import { ownerOf } from '../../support/owner.ts'
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
  const daemon = await startDaemonProcess(t, {
    devices: ['Phone'],
    ...options,
    args: ['--headless', ...(options.args ?? [])],
  })
  const device = await daemon.pair('Phone')
  const { gateway } = daemon.ready
  const client = connect({ url: gateway, username: device.username, password: device.password })
  return { daemon, phone: createPhone(device, gateway), client, gateway }
}

/** Starts it again where it was. @returns Its process. */
export function restart(
  t: TestContext,
  { daemon, gateway }: Pick<MemberDaemon, 'daemon' | 'gateway'>,
  args: readonly string[] = [],
): Promise<DaemonProcess> {
  const { host } = new URL(gateway)
  return startDaemonProcess(t, {
    folder: daemon.folder,
    args: ['--headless', '--listen', host, ...args],
  })
}

export interface JoinOptions {
  /** The address to go through, instead of the one of the gateway. */
  readonly url?: string
  /** That of the only certificate to accept. */
  readonly tlsFingerprint?: string
}

type Running = Pick<MemberDaemon, 'daemon'>

/** Makes what lets another daemon in, whose link has this URL. */
export function pairPeer({ daemon }: Running, url?: string): Promise<PairedDevice> {
  return daemon.pair('Peer', url)
}

/** Joins with a link that was made on the other side. @returns The id of the device there. */
export async function joinDaemon(
  from: Running,
  to: Running,
  { url, tlsFingerprint }: JoinOptions = {},
): Promise<string> {
  const { link, id } = await pairPeer(to, url)
  await (await ownerOf(from.daemon)).join({ link, name: undefined, tlsFingerprint })
  return id
}

/** `clipgate join`, with this link. */
export async function joinWith(
  from: Running,
  link: string,
  options: readonly string[] = [],
): Promise<void> {
  const file = joinPath(from.daemon.folder, 'link')
  await writeFile(file, link, { mode: 0o600 })
  await from.daemon.run('join', '--link-file', file, ...options)
}

/** Whether a document is this text; for {@link arrives}. */
export function isText(text: string): (document: { readonly text: string }) => boolean {
  return (document) => document.text === text
}

/** Resolves when a member has an item that fits. */
export async function arrives(
  { client }: { readonly client: Pick<Client, 'watch'> },
  fits: (document: LatestDocument) => boolean,
): Promise<LatestDocument> {
  for await (const document of client.watch()) if (fits(document)) return document
  throw new Error('The watch ended')
}

/** What a daemon says of its one peer. */
export async function peerOf({ daemon }: Running): Promise<PeerSummary> {
  const [peer] = await (await ownerOf(daemon)).peers()
  if (peer === undefined) throw new Error('It has joined nobody')
  return peer
}
