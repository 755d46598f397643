/**
 * Holds an answer against what a client needs.
 *
 * @module
 */

import assert from 'node:assert/strict'
import type { Check, Exchange } from './client-script.ts'
import { fillTemplate, type Values } from './template.ts'

/** An answer as it came. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** @returns What the fixture keeps of the answer. */
export function checkAnswer(
  { statuses, checks }: Exchange,
  answer: Answer,
  values: Values,
): Values {
  const status = String(answer.status)
  const fits = statuses.includes(status) || statuses.includes(`${status[0]}xx`)
  const shown = answer.body.subarray(0, 200).toString()
  assert.ok(fits, `the answer is ${status}, not ${statuses.join(' or ')}: ${shown}`)
  const kept = new Map<string, Buffer>()
  for (const check of checks) {
    try {
      const value = checkOne(check, answer, values)
      if (check.kind === 'keep' && value !== undefined) kept.set(check.name, value)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`line ${check.line}: ${reason}`, { cause: error })
    }
  }
  return kept
}

function checkOne(check: Check, answer: Answer, values: Values): Buffer | undefined {
  const { headers, body } = answer
  switch (check.kind) {
    case 'header': {
      const actual = headers[check.name.toLowerCase()]
      assert.notEqual(actual, undefined, `there is no ${check.name}`)
      if (check.value === undefined) return undefined
      assert.equal(actual, fillTemplate(check.value, values).toString())
      return undefined
    }
    case 'no-header':
      assert.equal(headers[check.name.toLowerCase()], undefined, `there is ${check.name}`)
      return undefined
    case 'json':
      assertContains(parseJson(body), parseJson(fillTemplate(check.value, values)), '')
      return undefined
    case 'without':
      assert.equal(readField(body, check.field), undefined, `there is ${check.field}`)
      return undefined
    case 'body': {
      const wanted = fillTemplate(check.value, values)
      assert.ok(body.equals(wanted), `the body is another: ${body.subarray(0, 200)}`)
      return undefined
    }
    case 'keep':
      return keep(check, answer)
  }
}

function keep(
  { source, key }: Extract<Check, { kind: 'keep' }>,
  { headers, body }: Answer,
): Buffer {
  if (source === 'body') return body
  const value = source === 'header' ? headers[key.toLowerCase()] : readField(body, key)
  assert.notEqual(value, undefined, `there is no ${key}`)
  return Buffer.from(String(value))
}

/** Objects may have more than is wanted; everything else is the same. */
function assertContains(actual: unknown, wanted: unknown, path: string): void {
  if (Array.isArray(wanted) && Array.isArray(actual)) {
    assert.equal(actual.length, wanted.length, `${path || 'the array'} has another length`)
    for (const [index, value] of wanted.entries()) {
      assertContains(actual[index], value, `${path}[${index}]`)
    }
    return
  }
  if (typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)) {
    const isObject = typeof actual === 'object' && actual !== null && !Array.isArray(actual)
    assert.ok(isObject, `${path || 'the answer'} is no object`)
    for (const [name, value] of Object.entries(wanted)) {
      assertContains(fieldOf(actual, name), value, `${path}.${name}`)
    }
    return
  }
  assert.deepEqual(actual, wanted, `${path || 'the answer'} is ${JSON.stringify(actual)}`)
}

/** One member of a JSON object. */
export function readField(body: Buffer, name: string): unknown {
  return fieldOf(parseJson(body), name)
}

function fieldOf(value: unknown, name: string): unknown {
  assert.ok(typeof value === 'object' && value !== null, `nothing here could have ${name}`)
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

function parseJson(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString())
}
