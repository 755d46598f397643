/** Writes log lines to a stream: time, level, message, then `key=value`. @module */

import type { Writable } from 'node:stream'
import { callHost } from '../lib/subscribers.ts'
import type { LogFields, Logger } from '../ports/logger.ts'

/** From the most to the least talkative; each includes those behind it. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** A logger that writes what is at least as important as `level`. */
export function createStreamLogger(stream: Writable, level: LogLevel): Logger {
  const threshold = LOG_LEVELS.indexOf(level)

  const writer = (name: LogLevel) => {
    if (LOG_LEVELS.indexOf(name) < threshold) return () => undefined
    return (message: string, fields: LogFields = {}): void => {
      // A reader that went away must not end the program; there is nobody left to tell.
      if (stream.writable) stream.write(`${formatLine(name, message, fields)}\n`)
    }
  }
  const [debug, info] = [writer('debug'), writer('info')]
  return { debug, info, warn: writer('warn'), error: writer('error') }
}

/** The same logger; that it fails is no failure of what it was to be told. */
export function guardLogger(logger: Logger): Logger {
  const guard = (name: LogLevel) => (message: string, fields?: LogFields) =>
    callHost(() => logger[name](message, fields))
  return {
    debug: guard('debug'),
    info: guard('info'),
    warn: guard('warn'),
    error: guard('error'),
    happened: (happening) => callHost(() => logger.happened?.(happening)),
  }
}

function formatLine(level: LogLevel, message: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
  const line = `${new Date().toISOString()} ${level.padEnd(5)} ${message}${pairs.join('')}`
  return line.replaceAll(UNPRINTABLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}

/**
 * Control, format and bidi characters, which a terminal or an editor would obey, not show. Also
 * joiners, which texts for people keep (`cli/visible.ts`): a log is for machines too.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
