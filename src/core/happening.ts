/**
 * Tells what happened to a daemon: never content, names of files, or secrets. One call tells the
 * log, and whoever listens there.
 * @module
 */

import type { ItemType } from './item.ts'

/** Each kind, with its level and its line in the log. */
const LINES = {
  pushed: ['debug', 'A push became current'],
  received: ['debug', 'An item of another daemon became current'],
  copied: ['debug', 'A copy became current'],
  paired: ['info', 'A device was paired'],
  rotated: ['info', 'A device was given a new password'],
  ended: ['info', 'The password of a device has ended'],
  revoked: ['info', 'A device was revoked'],
  connected: ['info', 'A device logged in from a new address'],
  refused: ['warn', 'Logins were refused: the password'],
  paused: ['info', 'The clipboard is paused'],
  resumed: ['info', 'The clipboard is shared again'],
} as const

export type HappeningKind = keyof typeof LINES

export const HAPPENING_KINDS = Object.keys(LINES) as readonly HappeningKind[]

/** Who changes devices: the start of the daemon, a command, or somebody at the panel. */
export const CHANGERS = ['start', 'command', 'panel'] as const

export type ChangedBy = (typeof CHANGERS)[number]

/** Something that happened. */
export interface Happening {
  readonly kind: HappeningKind
  /** Its id; `owner` for the owner, `undefined` where there is none. */
  readonly device?: string | undefined
  readonly label?: string | undefined
  /** Who changed the device. */
  readonly by?: ChangedBy | undefined
  /** Type and size, in bytes, of an item that became current. */
  readonly type?: ItemType | undefined
  readonly size?: number | undefined
  /** How many logins were refused. */
  readonly times?: number | undefined
  /** Where the device logged in from, or the last refused login came from. */
  readonly address?: string | undefined
  /** The end of a pause, in Unix milliseconds; `undefined` where it has none. */
  readonly untilMs?: number | undefined
}

type Line = (message: string, fields: Omit<Happening, 'kind'> & LogValues) => void
type LogValues = Readonly<Record<string, string | number | undefined>>

/** A log, as far as it is told. */
type Log = Readonly<Record<'debug' | 'info' | 'warn', Line>> & {
  readonly happened?: ((happening: Happening) => unknown) | undefined
}

/** Tells a log what happened: with a line, unless its reader hears of it in other words. */
export function tell(log: Log, happening: Happening): void {
  const { kind, ...fields } = happening
  const [level, message] = LINES[kind]
  if (log.happened?.(happening) !== true) log[level](message, { ...fields })
}
