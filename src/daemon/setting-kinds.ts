/**
 * How the values of settings are written, in a config file, an option or the environment.
 *
 * Decoders take what JSON can hold or what a shell can pass (strings), and throw a `TypeError`
 * that completes the sentence "Cannot use --name: it …". They quote values, as settings are not
 * secret; the exception is a URL, which may hold a password that should not be there.
 * @module
 */

import { isIP } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import { withoutTrailing } from '../lib/without-trailing.ts'
import type { Surroundings } from './folders.ts'
import { formatHostPort, isLoopbackHost, parseHostPort, type HostPort } from './host-port.ts'

/** One way of writing a value. */
export interface SettingKind<Value> {
  /** Stands for the value in the help; `undefined` for a flag, which takes none. */
  readonly placeholder: string | undefined
  readonly isList?: true
  /** @param folder What relative paths are relative to. @throws {TypeError} */
  decode(raw: unknown, folder: string): Value
  /** Writes a value so that {@link decode} reads the same from it; a string by default. */
  readonly format?: (value: Value) => string
}

/** One row of the table of settings. */
export interface Setting<Value> {
  readonly kind: SettingKind<NonNullable<Value>>
  readonly meaning: string
  readonly fallback: (where: Surroundings) => Value
  /** The default, in words. */
  readonly byDefault: string
}

/** Writes a row whose default says itself. */
export function setting<Value extends NonNullable<unknown>>(
  kind: SettingKind<Value>,
  value: Value,
  meaning: string,
): Setting<Value> {
  return { kind, meaning, fallback: () => value, byDefault: formatValue(kind, value) }
}

/** Writes a row whose default depends on the machine, or is clearer in words. */
export function settingInWords<Value extends NonNullable<unknown>>(
  kind: SettingKind<Value>,
  byDefault: string,
  fallback: (where: Surroundings) => NoInfer<Value>,
  meaning: string,
): Setting<Value> {
  return { kind, meaning, fallback, byDefault }
}

/** Writes a row of a setting that has no value unless somebody sets it. */
export function optionalSetting<Value extends NonNullable<unknown>>(
  kind: SettingKind<Value>,
  byDefault: string,
  meaning: string,
): Setting<Value | undefined> {
  return { kind, meaning, fallback: () => undefined, byDefault }
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

const UNITS_BYTES: Readonly<Record<string, number>> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

export const FLAG: SettingKind<boolean> = {
  placeholder: undefined,
  decode(raw) {
    if (typeof raw === 'boolean') return raw
    if (raw === 'true' || raw === '1') return true
    if (raw === 'false' || raw === '0') return false
    throw new TypeError(`must be true or false, not ${quote(raw)}`)
  },
  format: (value) => (value ? 'on' : 'off'),
}

export const PATH: SettingKind<string> = {
  placeholder: 'DIR',
  decode(raw, folder) {
    if (typeof raw !== 'string' || raw === '' || raw.includes('\0')) {
      throw new TypeError('must be a path')
    }
    return isAbsolute(raw) ? raw : resolve(folder, raw)
  },
}

export const HOST_PORT: SettingKind<HostPort> = {
  placeholder: 'HOST:PORT',
  decode(raw) {
    const parsed = typeof raw === 'string' ? parseHostPort(raw) : undefined
    if (parsed === undefined) {
      throw new TypeError(
        `must be HOST:PORT, such as 127.0.0.1:42720 or [::]:42720, not ${quote(raw)}`,
      )
    }
    return parsed
  },
  format: formatHostPort,
}

export const LOOPBACK_HOST_PORT: SettingKind<HostPort> = {
  ...HOST_PORT,
  decode(raw, folder) {
    const parsed = HOST_PORT.decode(raw, folder)
    if (!isLoopbackHost(parsed.host)) {
      throw new TypeError(`must be a loopback address, such as 127.0.0.1:42721, not ${quote(raw)}`)
    }
    return parsed
  },
}

/** An address, or a subnet in CIDR notation. */
export const ADDRESS: SettingKind<string> = {
  placeholder: 'ADDRESS',
  decode(raw) {
    const [address = '', prefix, ...rest] = typeof raw === 'string' ? raw.split('/') : []
    const bits = isIP(address) === 4 ? 32 : 128
    const isPrefix = prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= bits)
    if (isIP(address) === 0 || address.includes('%') || !isPrefix || rest.length > 0) {
      throw new TypeError(
        `must be an address or a subnet, such as 10.0.0.1 or fd00::/8, not ${quote(raw)}`,
      )
    }
    return String(raw)
  },
}

export const BASE_URL: SettingKind<string> = {
  placeholder: 'URL',
  decode(raw) {
    const url = readPlainUrl(raw, /^https?:$/)
    if (url !== undefined) return withoutTrailing(url.origin + url.pathname, '/')
    throw new TypeError('must be an http or https URL without user, query and fragment')
  },
}

export const BUS_URL: SettingKind<string> = {
  placeholder: 'URL',
  decode(raw) {
    const url = readPlainUrl(raw, /^(?:nats|tls):$/)
    const isBroker = url !== undefined && url.host !== '' && /^\/?$/.test(url.pathname)
    if (isBroker) return `${url.protocol}//${url.host}`
    // Not quoted: it may hold a password that should not be there.
    throw new TypeError(
      'must be nats://HOST:PORT or tls://HOST:PORT; a password belongs in --bus-credentials',
    )
  },
}

/** Milliseconds; written as `500ms`, `8s`, `1h`, or a plain number of seconds. */
export function duration(min: number, max: number): SettingKind<number> {
  return measure('DURATION', UNITS_MS, 1000, {
    min,
    max,
    example: 'seconds, or 500ms, 8s, 5m, 1h, 1d',
  })
}

/** Bytes; written as a plain number, or as `16MiB`. */
export function bytes(min: number, max: number): SettingKind<number> {
  return measure('BYTES', UNITS_BYTES, 1, { min, max, example: 'bytes, or 16KiB, 16MiB, 10GiB' })
}

/** A whole number. */
export function count(min: number, max: number): SettingKind<number> {
  return measure('N', {}, 1, { min, max, example: 'a number' })
}

/** One of several names. */
export function choice<const Name extends string>(names: readonly Name[]): SettingKind<Name> {
  return {
    placeholder: names.join('|'),
    decode(raw) {
      const name = names.find((candidate) => candidate === raw)
      if (name === undefined) throw new TypeError(`must be ${anyOf(names)}, not ${quote(raw)}`)
      return name
    },
  }
}

/** Several values, at least `min`: an array in JSON, commas or repeated options in a shell. */
export function list<Value>(
  kind: SettingKind<Value>,
  { min }: { readonly min: number },
): SettingKind<readonly Value[]> {
  return {
    placeholder: kind.placeholder?.replaceAll('|', ','),
    isList: true,
    decode(raw, folder) {
      const entries: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
      if (entries.length < min) throw new TypeError('must not be empty')
      return entries
        .flatMap((entry) => (typeof entry === 'string' ? entry.split(',') : [entry]))
        .map((entry) => kind.decode(typeof entry === 'string' ? entry.trim() : entry, folder))
    },
    format: (values) => values.map((value) => formatValue(kind, value)).join(', ') || 'none',
  }
}

function measure(
  placeholder: string,
  units: Readonly<Record<string, number>>,
  plainUnit: number,
  { min, max, example }: { readonly min: number; readonly max: number; readonly example: string },
): SettingKind<number> {
  function format(value: number): string {
    const fitting = Object.entries(units).filter(([, factor]) => value % factor === 0)
    const [unit, factor] = fitting.findLast(([, size]) => size <= value) ?? ['', plainUnit]
    return `${value / factor}${unit}`
  }
  return {
    placeholder,
    format,
    decode(raw) {
      const text = typeof raw === 'number' ? String(raw) : raw
      const [, digits, unit = ''] =
        (typeof text === 'string' && /^([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)$/.exec(text)) || []
      const factor = unit === '' ? plainUnit : Object.hasOwn(units, unit) ? units[unit] : undefined
      const value = Math.round(Number(digits) * (factor ?? Number.NaN))
      const isWhole = factor !== 1 || !digits?.includes('.')
      if (!Number.isFinite(value) || !isWhole) {
        throw new TypeError(`must be ${example}, not ${quote(raw)}`)
      }
      if (value < min || value > max) {
        throw new TypeError(`must be from ${format(min)} to ${format(max)}, not ${quote(raw)}`)
      }
      return value
    },
  }
}

/** A URL that is nothing but an address; `undefined` for all others. */
function readPlainUrl(raw: unknown, protocol: RegExp): URL | undefined {
  const url = typeof raw === 'string' && URL.canParse(raw) ? new URL(raw) : undefined
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === ''
  return isPlain && protocol.test(url.protocol) ? url : undefined
}

function formatValue<Value>({ format = String }: SettingKind<Value>, value: Value): string {
  return format(value)
}

function anyOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

/** Long enough to recognise a value by, short enough for one line. */
function quote(raw: unknown): string {
  const text = JSON.stringify(raw) ?? String(raw)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
