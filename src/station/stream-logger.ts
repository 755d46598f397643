/**
 * Writes log lines to a stream: time, level, message, then `key=value`; and keeps in memory what
 * happened lately, out of what the log is told.
 * @module
 */

import type { Writable } from 'node:stream'
import { callHost, Subscribers } from '../lib/subscribers.ts'
import type { LogFields, Logger } from '../ports/logger.ts'
import type { Happening } from '../core/happening.ts'
import type { Clock } from '../lib/clock.ts'
import type { Happened, HappeningsList } from '../ports/panel.ts'

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

/** A day or a week of a person: half of it for items, which cannot push out all else. */
const MOST = 200

/** As long as a label, which is the longest of what devices say here; so 200 of them are small. */
const MAX_LENGTH = 64

/** The list of what happened since the start of the daemon. */
export class Happenings implements HappeningsList {
  readonly #clock: Clock
  readonly #labelOf: (deviceId: string) => string | undefined
  readonly #watchers = new Subscribers()
  #list: readonly Happened[] = []

  /** @param labelOf Asked for the label of a device when something happens. */
  constructor(clock: Clock, labelOf: (deviceId: string) => string | undefined) {
    this.#clock = clock
    this.#labelOf = labelOf
  }

  get list(): readonly Happened[] {
    return this.#list
  }

  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** The same log, of which what happens is kept, whatever its level. */
  hear(logger: Logger): Logger {
    return {
      debug: (message, fields) => logger.debug(message, fields),
      info: (message, fields) => logger.info(message, fields),
      warn: (message, fields) => logger.warn(message, fields),
      error: (message, fields) => logger.error(message, fields),
      happened: (happening) => {
        this.#add(happening)
        return logger.happened?.(happening)
      },
    }
  }

  #add({ device, label, address, ...rest }: Happening): void {
    const id = (this.#list[0]?.id ?? 0) + 1
    const at = new Date(this.#clock.now()).toISOString()
    const name = label ?? (device === undefined ? undefined : this.#labelOf(device))
    const strings = { label: name?.slice(0, MAX_LENGTH), address: address?.slice(0, MAX_LENGTH) }
    const list: readonly Happened[] = [{ id, at, ...rest, device, ...strings }, ...this.#list]
    this.#list = list.length > MOST ? withoutOne(list) : list
    this.#watchers.notify()
  }
}

/** Leaves out the oldest item, or the oldest of all else, whichever there are more of. */
function withoutOne(list: readonly Happened[]): readonly Happened[] {
  const items = list.filter(isItem)
  const others = list.filter((happened) => !isItem(happened))
  const oldest = items.length > others.length ? items.at(-1) : others.at(-1)
  return list.filter((happened) => happened !== oldest)
}

function isItem({ type }: Happened): boolean {
  return type !== undefined
}
