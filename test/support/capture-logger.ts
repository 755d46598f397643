/**
 * A logger that keeps what it is told, so that a test can read it, or look for secrets in it.
 * @module
 */

import type { LogFields, Logger } from '../../src/ports/logger.ts'

export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: LogFields
}

export class CaptureLogger implements Logger {
  readonly lines: LogLine[] = []

  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', message, fields })
  }

  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields })
  }

  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields })
  }

  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields })
  }

  /** Everything that was logged, as one text. */
  get text(): string {
    return this.lines.map((line) => JSON.stringify(line)).join('\n')
  }
}
