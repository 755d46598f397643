/** Port: what the operator gets to read. Never secrets, never clipboard content. @module */

import type { Happening } from '../core/happening.ts'

/** Values worth naming in a log line: `{ port: 42720 }`. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Writes log lines. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /**
   * Told what happened besides its line, also where the level leaves that out. There is no line
   * where it returns `true`: whoever reads the log was told in other words.
   */
  readonly happened?: ((happening: Happening) => unknown) | undefined
}
