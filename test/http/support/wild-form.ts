/**
 * Generates forms in all the spellings that clients have, with what is in them.
 * @module
 */

import type { PartHeader } from '../../../src/http/part-header.ts'
import fc from '../../support/property.ts'

export interface WildPart extends PartHeader {
  readonly body: string
}

export interface WildForm {
  readonly contentType: string
  readonly boundary: string
  /** Bytes as latin1. */
  readonly text: string
  readonly parts: readonly WildPart[]
}

/** A name, and the value of a parameter that says it. */
interface Spelled {
  readonly name: string
  /** `="a"`, `*=UTF-8''a`; bytes as latin1. */
  readonly spelling: string
}

const BCHARS = "0123456789abcXYZ'()+_,-./:=?"

const boundaries = fc.oneof(
  fc.string({ unit: fc.constantFrom(...BCHARS), minLength: 1, maxLength: 70 }),
  fc.constantFrom('a', '-', '--', 'aa', '-a-', 'a'.repeat(70), '*****', 'a b'),
)

/** As a delimiter would be found in a whole text, in the plainest way. */
export function delimiterOf(boundary: string): RegExp {
  const escaped = boundary.replace(/[^A-Za-z0-9]/g, '\\$&')
  return new RegExp(`\r\n--${escaped}(?:[ \t]{0,256}\r\n|--(?=[ \t\r\n]|$))`)
}

/** Bytes that come close to being a delimiter, and others. */
export function nearDelimiters(boundary: string): fc.Arbitrary<string> {
  const delimiter = `\r\n--${boundary}`
  return fc.oneof(
    fc.constantFrom('\r', '\n', '\r\n', '-', '--', 'a', ' ', '\t', '\0', '\xff', '\r\n\r\n'),
    fc.integer({ min: 1, max: delimiter.length }).map((length) => delimiter.slice(0, length)),
    fc.integer({ min: 0, max: delimiter.length }).map((start) => delimiter.slice(start)),
    fc.constantFrom('-', '--x', ' x', '\r', '\rx', '\n').map((end) => delimiter + end),
    fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)) }),
  )
}

function bodiesWithout(boundary: string): fc.Arbitrary<string> {
  const delimiter = delimiterOf(boundary)
  return (
    fc
      .array(nearDelimiters(boundary), { maxLength: 12 })
      .map((pieces) => pieces.join(''))
      // Also none that what follows would complete.
      .filter((body) => !delimiter.test(`\r\n${body}\r\n`) && !delimiter.test(`\r\n${body}`))
  )
}

const characters = fc.oneof(
  fc.constantFrom(...`ab.1 ()'=;"?*/%-_`),
  fc.constantFrom('ü', '图', '😀', '€'),
)

// Not what browsers write for something else, or what would be an encoded word.
const names = fc
  .string({ unit: characters, maxLength: 20 })
  .filter((name) => !/%(22|0[ad])|^=\?/i.test(name))

const spelledNames: fc.Arbitrary<Spelled> = fc.tuple(names, fc.nat()).map(([name, choice]) => {
  const bytes = Buffer.from(name)
  const raw = bytes.toString('latin1')
  const hex = (sign: string) => bytes.toString('hex').replace(/../g, `${sign}$&`)
  const spellings = [
    `="${raw.replace(/["\\]/g, '\\$&')}"`,
    `="${raw.replaceAll('"', '%22')}"`,
    `*=UTF-8''${hex('%')}`,
    `*=utf-8'en'${hex('%')}`,
    `="=?utf-8?B?${bytes.toString('base64')}?="`,
    `==?UTF-8?q?${hex('=')}?=`,
    // Only what needs no quotes.
    /^[^\s";](?:[^;]*[^\s;])?$/.test(name) ? `=${raw}` : `="${raw.replaceAll('"', '%22')}"`,
  ]
  return { name, spelling: spellings[choice % spellings.length] ?? '' }
})

interface Style {
  readonly field: string
  readonly gap: string
  readonly isFileNameFirst: boolean
  readonly hasDecoy: boolean
  readonly others: readonly string[]
}

const otherFields = fc.subarray([
  'Content-Length: 5',
  'Content-Transfer-Encoding: binary',
  'MIME-Version: 1.0',
  'X-Empty:',
  'X-Odd: \xff;"',
  'X-Folded: a\r\n\tb',
])

const styles: fc.Arbitrary<Style> = fc.record({
  field: fc.constantFrom(
    'Content-Disposition: form-data',
    'content-disposition:form-data',
    'CONTENT-DISPOSITION: \tForm-Data ',
  ),
  gap: fc.constantFrom('; ', ';', ' ;\t', ';\r\n ', '; ; '),
  isFileNameFirst: fc.boolean(),
  hasDecoy: fc.boolean(),
  others: otherFields,
})

const parts = fc.record({
  name: fc.option(spelledNames, { nil: undefined }),
  fileName: fc.option(spelledNames, { nil: undefined }),
  contentType: fc.option(fc.constantFrom('text/plain', 'image/*', 'a/b; charset="utf-8"'), {
    nil: undefined,
  }),
  style: styles,
})

type PartPlan = typeof parts extends fc.Arbitrary<infer Plan> ? Plan : never

function formatHeader({ name, fileName, contentType, style }: PartPlan): string {
  const { field, gap, isFileNameFirst, hasDecoy, others } = style
  const parameters = [
    ...(name === undefined ? [] : [`name${name.spelling}`]),
    ...(fileName === undefined ? [] : [`filename${fileName.spelling}`]),
    // Beside an extended name there is often a poor one.
    ...(hasDecoy && fileName?.spelling.startsWith('*') ? ['FileName="decoy"'] : []),
  ]
  if (isFileNameFirst) parameters.reverse()
  const fields = [
    ...others,
    [field, ...parameters].join(gap),
    ...(contentType === undefined ? [] : [`Content-Type: ${contentType}`]),
  ]
  return `${fields.join('\r\n')}\r\n\r\n`
}

/** Forms as in the wild: all of them sound. */
export const wildForms: fc.Arbitrary<WildForm> = boundaries
  .chain((boundary) => {
    const bodies = bodiesWithout(boundary)
    return fc.record({
      boundary: fc.constant(boundary),
      isQuoted: fc.boolean(),
      plans: fc.array(fc.tuple(parts, bodies), { maxLength: 5 }),
      preamble: fc.oneof(
        fc.constant(''),
        bodies.map((body) => `${body}\r\n`),
      ),
      padding: fc.constantFrom('', '', ' ', '\t \t'),
      end: fc.oneof(
        fc.constantFrom('\r\n', '', '\n'),
        bodies.map((body) => `\r\n${body}`),
      ),
    })
  })
  .map(({ boundary, isQuoted, plans, preamble, padding, end }) => {
    const pieces = plans.map(
      ([plan, body]) => `--${boundary}${padding}\r\n${formatHeader(plan)}${body}\r\n`,
    )
    const value = isQuoted || boundary.includes(' ') ? `"${boundary}"` : boundary
    return {
      contentType: `multipart/form-data; boundary=${value}`,
      boundary,
      text: `${preamble}${pieces.join('')}--${boundary}--${end}`,
      parts: plans.map(([{ name, fileName, contentType }, body]) => ({
        name: name?.name ?? '',
        fileName: fileName?.name,
        contentType,
        body,
      })),
    }
  })
