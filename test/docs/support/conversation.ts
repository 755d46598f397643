/**
 * What the checks of the tables say over and over.
 * @module
 */

import assert from 'node:assert/strict'
import { codeIn } from './answer-check.ts'
import type { Answer, Station } from './station.ts'

export const PNG: Buffer = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')

/** Announces a body of this length, and waits for leave to send it. */
function declare({ ask }: Station, bytes: number, where: Where): Promise<Answer> {
  const [method, target, type] = where
  const fields = [`Content-Length: ${bytes}`, 'Expect: 100-continue', `Content-Type: ${type}`]
  return ask({ method, target, fields })
}

type Where = readonly [method: string, target: string, type: string]

/** Shows that a body of this length is welcome, and one byte more is not. */
export async function assertLargest(at: Station, bytes: number, ...where: Where): Promise<void> {
  assert.equal((await declare(at, bytes, where)).status, 100)
  const refused = await declare(at, bytes + 1, where)
  assert.deepEqual([refused.status, codeIn(refused)], [413, 'BODY_TOO_LARGE'])
}
