/**
 * Shows on the desktop that a device has sent something, and where it is.
 *
 * What comes within a second is told once, and a new notification takes the place of the one
 * before: a phone that sends thirty photos does not fill the screen. The name of a file is shown,
 * and never what is in it, nor a text.
 * @module
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ItemType } from '../../core/item.ts'
import type { Clock } from '../../lib/clock.ts'
import { findProgram } from '../../lib/find-program.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import { openPath } from '../../lib/open-path.ts'
import type { Logger } from '../../ports/logger.ts'
import { notificationCommand, type Notification } from './notification-command.ts'
import { NotificationSender } from './notification-sender.ts'

const BURST_MS = 1000

/** Few desktops show a notification for longer. */
const SHOWN_MS = 60_000

/** Tells `notify-send` to take back what it shows. */
const WITHDRAW = 'SIGINT'

/** In characters: one line of most desktops. */
const MAX_NAME_LENGTH = 48

/** The name of the button, which the program prints when it was clicked. */
const FOLDER = 'folder'

/** Something that a device has sent. */
export interface Arrival {
  /** Label of the device; `undefined` for another computer. */
  readonly from: string | undefined
  readonly type: ItemType
  /** The name that the sender gave it; empty for a text. */
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** Whether it is in the folder. */
  readonly isFile: boolean
}

interface ArrivalsOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
  readonly folder: string
  /** Whether somebody asked for them, and is warned when they cannot be shown. */
  readonly isAsked: boolean
}

/**
 * Whether this desktop is known to show notifications: Linux with `notify-send` and a session bus.
 * Elsewhere they are for those who ask.
 */
export async function canShowArrivals({
  platform,
  env,
}: Pick<NodeJS.Process, 'platform' | 'env'> = process): Promise<boolean> {
  if (platform !== 'linux' || (await findProgram('notify-send', env)) === undefined) return false
  const { DBUS_SESSION_BUS_ADDRESS: bus = '', XDG_RUNTIME_DIR: folder = '' } = env
  if (bus !== '' || folder === '') return bus !== ''
  return access(join(folder, 'bus')).then(
    () => true,
    () => false,
  )
}

/** Shows what has arrived. */
export class Arrivals {
  readonly #clock: Pick<Clock, 'after'>
  readonly #folder: string
  readonly #sender: NotificationSender
  /** Arrivals that are told at once. */
  readonly #burst: Arrival[] = []
  #stopWaiting: (() => void) | undefined
  /** The program that waits for a click. */
  #shown: ChildProcess | undefined
  /** Whether the program can stay until a click, or until it is told to withdraw what it shows. */
  #canWait = process.platform === 'linux'

  constructor({ clock, logger, folder, isAsked }: ArrivalsOptions) {
    this.#clock = clock
    this.#folder = folder
    this.#sender = new NotificationSender(logger, isAsked ? 'warn' : 'debug')
  }

  add(arrival: Arrival): void {
    this.#burst.push(arrival)
    this.#stopWaiting ??= this.#clock.after(BURST_MS, () => this.#show())
  }

  /** Shows nothing any more. */
  close(): void {
    this.#stopWaiting?.()
    this.#withdraw()
    this.#sender.close()
  }

  #show(): void {
    const burst = this.#burst.splice(0)
    const last = burst.at(-1)
    this.#stopWaiting = undefined
    if (last === undefined) return
    const notification = describeBurst(burst, last)
    const hasFile = burst.some(({ isFile }) => isFile)
    if (this.#canWait) this.#showUntilNext(notification, hasFile)
    else this.#sender.send(notification)
  }

  #showUntilNext(notification: Notification, hasFile: boolean): void {
    this.#withdraw()
    const { program, args, environment } = notificationCommand(process.platform, notification)
    const wait = hasFile ? `--action=${FOLDER}=Open folder` : '--wait'
    const child = spawn(program, [wait, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: SHOWN_MS,
      killSignal: WITHDRAW,
    })
    this.#shown = child
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === FOLDER) void openPath(this.#folder)
    })
    const onEnd = (code?: unknown): void => {
      if (this.#shown !== child) return
      this.#shown = undefined
      if (code === 0 || child.signalCode !== null) return
      // An old program, or none at all, which the sender says.
      this.#canWait = false
      this.#sender.send(notification)
    }
    child.on('error', onEnd)
    child.on('close', onEnd)
  }

  #withdraw(): void {
    const child = this.#shown
    this.#shown = undefined
    child?.kill(WITHDRAW)
  }
}

function describeBurst(burst: readonly Arrival[], last: Arrival): Notification {
  const senders = new Set(burst.map((arrival) => arrival.from))
  const from = last.from === undefined ? 'another computer' : `“${shorten(last.from)}”`
  const text = describe(last)
  return {
    title: senders.size === 1 ? `From ${from}` : 'From your devices',
    text: burst.length === 1 ? text : `${burst.length} items, the last one: ${text}`,
  }
}

function describe({ type, name, size }: Arrival): string {
  if (type === 'Text') return 'A text is on the clipboard.'
  if (type === 'Image') return `A picture is on the clipboard, ${formatBytes(size)}.`
  return `${shorten(name)}, ${formatBytes(size)}`
}

/** Keeps the end of a name: it says what kind of file that is. */
function shorten(name: string): string {
  const characters = [...name]
  if (characters.length <= MAX_NAME_LENGTH) return name
  const half = MAX_NAME_LENGTH / 2
  return `${characters.slice(0, half).join('')}…${characters.slice(-half + 1).join('')}`
}
