/**
 * Shows notifications, one after the other, by the platform's own program. Never fails: what cannot
 * be shown is logged once.
 * @module
 */

import { execFile, type ChildProcess } from 'node:child_process'
import { codeOf } from '../../lib/system-error.ts'
import type { Logger } from '../../ports/logger.ts'
import { notificationCommand, type Notification } from './notification-command.ts'

/** A desktop takes a notification within milliseconds. */
const PATIENCE_MS = 5000

/** More than a person wants to read at once. */
const MAX_WAITING = 8

/** Nobody reads what the program says. */
const MAX_OUTPUT_BYTES: number = 64 * 1024

/** Shows notifications with the program of the desktop. */
export class NotificationSender {
  readonly #logger: Logger
  readonly #level: 'warn' | 'debug'
  readonly #waiting: Notification[] = []
  #running: ChildProcess | undefined
  #hasFailed = false
  /** For good: closed, or there is no such program. */
  #isSilent = false

  /** @param level How what cannot be shown is logged: `warn` where somebody asked for it. */
  constructor(logger: Logger, level: 'warn' | 'debug' = 'warn') {
    this.#logger = logger
    this.#level = level
  }

  send(notification: Notification): void {
    if (this.#isSilent || this.#waiting.length >= MAX_WAITING) return
    this.#waiting.push(notification)
    if (this.#running === undefined) this.#showNext()
  }

  /** Shows nothing any more. */
  close(): void {
    this.#isSilent = true
    this.#waiting.length = 0
    this.#running?.kill('SIGKILL')
  }

  #showNext(): void {
    const notification = this.#waiting.shift()
    if (notification === undefined) return
    this.#running = showNotification(notification, (program, error) => {
      this.#running = undefined
      if (error !== null && !this.#isSilent) this.#complain(program, error)
      this.#showNext()
    })
  }

  #complain(program: string, error: Error): void {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'EACCES') {
      this.#isSilent = true
      this.#waiting.length = 0
      const missing = 'Cannot show notifications: the program for it is missing'
      this.#logger[this.#level](missing, { program })
      return
    }
    // Its exit code; none when it took too long.
    if (!this.#hasFailed) this.#logger[this.#level]('Cannot show a notification', { program, code })
    this.#hasFailed = true
  }
}

/**
 * Shows one notification. @param onEnd Is given the program for it, and why it failed, if it did.
 */
export function showNotification(
  notification: Notification,
  onEnd: (program: string, error: Error | null) => void,
): ChildProcess {
  const { program, args, environment } = notificationCommand(
    process.platform,
    notification,
    process.env['SystemRoot'],
  )
  const options = {
    env: { ...process.env, ...environment },
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    windowsHide: true,
  } as const
  return execFile(program, args, options, (error) => onEnd(program, error))
}
