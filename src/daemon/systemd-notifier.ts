/**
 * Tells systemd what it asks for: when the daemon is ready, that it lives, and when it stops; see
 * sd_notify(3). Node has no datagrams on Unix sockets, so `systemd-notify` sends them, and waits
 * until they were read: docs/decisions/056-a-service-of-the-user.md.
 * @module
 */

import { spawn } from 'node:child_process'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { Logger } from '../ports/logger.ts'

const PROGRAM = 'systemd-notify'

/** It sends a line and waits for systemd, which is busy while a machine starts. */
const PATIENCE_MS = 30_000

/** Signs of life within the time after which systemd ends the daemon: two may be late. */
const SIGNS = 3

/** The program that systemd started, as far as systemd wants to hear of it. */
interface SystemdNotifier {
  /** To be called once all listeners accept. From then on it is told that the event loop turns. */
  ready(): void
  /** To be called once: a stop has begun. */
  stopping(): void
}

/**
 * Makes it from the variables that systemd sets, and takes those away: programs that this starts
 * do not speak for it. Without them nothing is told to anybody.
 *
 * @param environment Changed in place.
 */
export function takeSystemdNotifier(
  environment: NodeJS.ProcessEnv,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): SystemdNotifier {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH } = environment
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name]
  if (!NOTIFY_SOCKET) return { ready: () => undefined, stopping: () => undefined }

  const limitMs = Number(WATCHDOG_USEC) / 1000
  const isWatched = limitMs > 0 && [undefined, String(process.pid)].includes(WATCHDOG_PID)
  let isStopping = false
  let hasFailed = false

  async function tell(state: string): Promise<void> {
    const reason = await send(state, { PATH, NOTIFY_SOCKET })
    if (reason !== undefined && !hasFailed) logger.error('Cannot tell systemd', { state, reason })
    hasFailed = reason !== undefined
  }

  function tellLater(): void {
    clock.after(limitMs / SIGNS, async () => {
      if (isStopping) return
      await tell('WATCHDOG=1')
      tellLater()
    })
  }

  return {
    ready: () => {
      void tell('READY=1')
      if (isWatched) tellLater()
    },
    stopping: () => {
      isStopping = true
      void tell('STOPPING=1')
    },
  }
}

/** @returns Why it was not sent; `undefined` when systemd has read it. */
function send(state: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env, timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const
    const child = spawn(PROGRAM, [state], { ...options, stdio: 'ignore' })
    child.once('error', (error) => resolve(messageOf(error)))
    child.once('exit', (code, signal) => {
      resolve(code === 0 ? undefined : `${PROGRAM} ended with ${code ?? signal}`)
    })
  })
}
