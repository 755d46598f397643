/** The world around a command, as far as commands reach it; tests bring their own. @module */

import type { Readable, Writable } from 'node:stream'
import type { Surroundings } from '../daemon/folders.ts'
import { visible, visibleJson } from './visible.ts'

/** A stream that may be a terminal. */
export interface Screen extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  /** The descriptor that it writes to. */
  readonly fd?: number
}

/** The streams, the surroundings and the folder of one call. */
export interface Shell {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Screen
  readonly stderr: Screen
  readonly where: Surroundings
  readonly cwd: string
}

/** The width of the terminal; `undefined` when there is none, or when it does not know (0). */
export function columnsOf({ stdout }: Shell): number | undefined {
  return stdout.columns === 0 ? undefined : stdout.columns
}

/** The height of the terminal, likewise. */
export function rowsOf({ stdout }: Shell): number | undefined {
  return stdout.rows === 0 ? undefined : stdout.rows
}

/** Whether somebody watches, and sees colours: see https://no-color.org. */
export function showsColours({ stdout, where: { environment } }: Shell): boolean {
  return stdout.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
}

/** Whether there is a screen that the person sits at. */
export function hasDesktop({ platform, environment }: Surroundings): boolean {
  if (isRemote({ environment })) return false
  if (platform === 'darwin' || platform === 'win32') return true
  return Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY'])
}

/** Whether the person sits at another machine. */
export function isRemote({ environment }: Pick<Surroundings, 'environment'>): boolean {
  return Boolean(environment['SSH_CONNECTION'])
}

/** Prints a line for people. Whatever came from outside was made visible by the caller. */
export function print(shell: Shell, line: string): void {
  shell.stdout.write(`${line}\n`)
}

/** Prints one JSON value as a line; a member that is absent is `null`. */
export function printJson(shell: Shell, value: unknown): void {
  const json = JSON.stringify(value, (_key, member: unknown) =>
    member === undefined ? null : member,
  )
  print(shell, visibleJson(json))
}

/** A link, also as part of a path, where two slashes are one. Its beginning alone is no secret. */
const LINK = /clip:\/+connect\?*[^\s"?][^\s"]*|https?:\/+[^\s"#]*\/phone#[^\s"]+/gi

/**
 * Prints one line on stderr, whatever the message holds. People give links where a file or a device
 * is meant; messages quote those.
 */
export function complain(shell: Shell, message: string): void {
  shell.stderr.write(`${visible(message.replace(LINK, '(a connect link)'))}\n`)
}
