/**
 * Secrets that can be recognised wherever they turn up, and the search for them.
 *
 * Each repeats a short mark, so that the few characters around an error, which is all that many
 * messages quote, hold it whole.
 * @module
 */

import { ENCODINGS, viewsOf, type Encoding } from './encodings.ts'

/** What all marks begin with. It occurs nowhere else. */
const STEM = 'Zq9VxK'

/** The second letter is the same, since base64 may cut it. */
const CODES = {
  password: 'AQ',
  'wrong password': 'BQ',
  label: 'CQ',
  'user name': 'DQ',
  'user agent': 'EQ',
  text: 'FQ',
  'long text': 'GQ',
  'file name': 'HQ',
  'file content': 'IQ',
  'form file name': 'JQ',
  'form file content': 'KQ',
  'request line': 'LQ',
  'request header': 'MQ',
  'request body': 'NQ',
  'setting name': 'OQ',
  'setting value': 'PQ',
  'damaged file': 'QQ',
  'link part': 'RQ',
  'copied secret': 'SQ',
} as const

export type SecretName = keyof typeof CODES

const UNKNOWN = 'unknown'

const NAMES = Object.keys(CODES) as SecretName[]

/** One secret in some bytes. */
export interface Finding {
  /** A `SecretName`, or the name that a learnt secret has. */
  readonly secret: string
  /** The encoding. */
  readonly as: string
  /** The text around it. */
  readonly near: string
}

/** A text with characters that every encoding treats in its own way. */
export function secret(name: SecretName): string {
  return [markOf(name), markOf(name), markOf(name)].join(' é"&')
}

/** Letters, digits and underscores; 26 of them, a letter first. */
export function secretWord(name: SecretName): string {
  return [markOf(name), markOf(name), markOf(name)].join('_')
}

/** Searches for all secrets above, and for others that it is told. */
export class Search {
  readonly #learnt = new Map<string, string>()

  /** A secret that somebody else made. It has to be long. */
  learn(name: string, value: string): void {
    this.#learnt.set(value, name)
  }

  /** Each secret in each encoding once. */
  find(bytes: Uint8Array): readonly Finding[] {
    const findings = new Map<string, Finding>()
    for (const text of viewsOf(bytes)) {
      const folded = text.toLowerCase()
      for (const encoding of ENCODINGS) {
        const view = encoding.isExact ? text : folded
        for (const finding of this.#findIn(view, encoding)) {
          findings.set(`${finding.secret} ${finding.as}`, finding)
        }
      }
    }
    // A mark may be cut off at the end, behind others that are whole.
    const known = [...findings.values()].filter(({ secret }) => secret !== UNKNOWN)
    const isCutOff = ({ as }: Finding): boolean => known.some((other) => other.as === as)
    return [...findings.values()].filter((it) => it.secret !== UNKNOWN || !isCutOff(it))
  }

  *#findIn(view: string, encoding: Encoding): Generator<Finding> {
    const encode = encoderOf(encoding)
    const report = (name: string, at: number): Finding => {
      return { secret: name, as: encoding.name, near: view.slice(Math.max(0, at - 60), at + 120) }
    }
    for (const at of occurrences(view, encode(STEM))) {
      const name = NAMES.find((candidate) => view.startsWith(encode(markOf(candidate)), at))
      yield report(name ?? UNKNOWN, at)
    }
    for (const [value, name] of this.#learnt) {
      for (const at of occurrences(view, encode(value))) yield report(name, at)
    }
  }
}

function markOf(name: SecretName): string {
  return STEM + CODES[name]
}

function encoderOf({ isExact, encode }: Encoding): (text: string) => string {
  return isExact ? encode : (text) => encode(text).toLowerCase()
}

function* occurrences(view: string, needle: string): Generator<number> {
  for (let at = view.indexOf(needle); at !== -1; at = view.indexOf(needle, at + needle.length)) {
    yield at
  }
}
