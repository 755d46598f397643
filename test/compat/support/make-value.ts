/**
 * What a client computes before it sends: hashes, encodings, sizes. The `let` functions of
 * fixtures/clients, which say there what each is for.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** From an argument, its names filled in, to a value. */
export type MakeValue = (argument: Buffer) => Uint8Array

const SAMPLES = new URL('../../../fixtures/clients/samples/', import.meta.url)

export const FUNCTIONS: ReadonlyMap<string, MakeValue> = new Map<string, MakeValue>([
  ['text', (argument) => argument],
  ['hex', (argument) => decode(argument, 'hex')],
  ['base64', (argument) => decode(argument, 'base64')],
  ['sample', (argument) => readFileSync(new URL(argument.toString(), SAMPLES))],
  ['repeat', repeat],
  ['sha256', (argument) => Buffer.from(digest('sha256', argument))],
  ['SHA256', (argument) => Buffer.from(digest('sha256', argument).toUpperCase())],
  ['md5', (argument) => Buffer.from(digest('md5', argument))],
  ['percent', (argument) => Buffer.from(encodeURIComponent(argument.toString()))],
  ['json', (argument) => Buffer.from(JSON.stringify(argument.toString()).slice(1, -1))],
  ['rfc2047', (argument) => Buffer.from(`=?utf-8?B?${argument.toString('base64')}?=`)],
  ['bytes', (argument) => Buffer.from(String(argument.length))],
  ['units', (argument) => Buffer.from(String(argument.toString().length))],
])

function digest(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex')
}

/** Node skips what it cannot decode; a misspelt fixture must not pass. */
function decode(argument: Buffer, encoding: 'hex' | 'base64'): Buffer {
  const text = argument.toString().replaceAll(' ', '')
  const bytes = Buffer.from(text, encoding)
  if (bytes.toString(encoding) !== text) throw new SyntaxError(`this is not ${encoding}: ${text}`)
  return bytes
}

/** `3000 ab` */
function repeat(argument: Buffer): Buffer {
  const [, count = '', text = ''] = /^(\d+) ([^]+)$/.exec(argument.toString()) ?? []
  if (text === '') throw new SyntaxError('"repeat" wants a number and a text')
  return Buffer.from(text.repeat(Number(count)))
}
