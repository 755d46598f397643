/**
 * A server whose clients wait for changes, and how long they wait for one.
 * @module
 */

import { join } from 'node:path'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import { addCheapDevices } from '../../test/support/many-devices.ts'
import { setUpDaemon, startDaemon, type Daemon, type DaemonSetup } from './daemon.ts'
import { logIn, openStreams, type Listening, type StreamReader } from './event-streams.ts'

/** A data directory whose devices have logins that cost next to nothing. */
export interface Site {
  readonly setup: DaemonSetup
  readonly logins: readonly string[]
}

/** A server with clients that wait. */
export interface Audience {
  readonly pid: number
  readonly port: number
  readonly readers: readonly StreamReader[]
  /** Tells all of them. */
  push(text: string): Promise<void>
}

/** @param count Of devices. */
export async function prepareSite(folder: string, count: number): Promise<Site> {
  const setup = await setUpDaemon(folder)
  const devices = await addCheapDevices(join(folder, 'data', 'devices.json'), count)
  return { setup, logins: devices.map(({ authorization }) => authorization) }
}

/** Starts a daemon, to which each device listens as often as it may. */
export async function startAudience(
  cleanup: AsyncCleanup,
  { setup, logins }: Site,
  listening: Listening,
): Promise<Audience> {
  const daemon = await startDaemon(cleanup, setup)
  await logIn(daemon.port, logins)
  const readers = await openStreams(cleanup, daemon.port, logins, listening)
  return { pid: daemon.pid, port: daemon.port, readers, push: (text) => pushText(daemon, text) }
}

/** Milliseconds from sending a push to its arrival at the last client. */
export async function timePush(
  { readers, push }: Pick<Audience, 'readers' | 'push'>,
  text: string,
): Promise<number> {
  const arrivals = readers.map((reader) => reader.nextUpdate())
  const start = performance.now()
  const pushed = push(text)
  const times = await Promise.all(arrivals)
  await pushed
  return Math.max(...times) - start
}

export function pushText(daemon: Pick<Daemon, 'send'>, text: string): Promise<void> {
  return daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text }))
}
