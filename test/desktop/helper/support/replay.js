/**
 * Plays a helper from a conversation in `fixtures/helpers`: says what the helper said, and waits
 * for what the adapter said. Ends when the adapter says something else.
 *
 * What the daemon sees or does is a matter of the test, which says on a socket when it has.
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'

/**
 * @typedef {{
 *   readonly helper?: Readonly<Record<string, unknown>>,
 *   readonly raw?: string,
 *   readonly adapter?: Readonly<Record<string, unknown>>,
 *   readonly hands?: string,
 *   readonly handsBase64?: string,
 *   readonly finds?: string,
 *   readonly expect?: unknown,
 *   readonly trouble?: unknown,
 *   readonly offered?: boolean,
 * }} Step
 */

const [, , path = '', port = ''] = process.argv

/** @type {Step[]} */
const steps = readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line))

const requests = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

// A machine may not even know "localhost".
const test = connect(Number(port), '127.0.0.1').setEncoding('latin1')[Symbol.asyncIterator]()
let seen = ''

/** @type {unknown} */
let lastId
for (const step of steps) {
  if (step.raw !== undefined) process.stdout.write(`${step.raw}\n`)
  if (step.helper !== undefined) tell(step.helper)
  if (step.adapter !== undefined) await hear(step.adapter, step)
  if ('expect' in step || 'trouble' in step || step.offered) await untilSeen()
}
// Lives on until the adapter has gone; what it asks for is not answered.
while (!(await requests.next()).done);

async function untilSeen() {
  while (seen === '') seen += (await test.next()).value
  seen = seen.slice(1)
}

/** @param {Readonly<Record<string, unknown>>} message */
function tell(message) {
  const named = message['reply'] === '$id' ? { ...message, reply: lastId } : message
  process.stdout.write(`${JSON.stringify(named)}\n`)
}

/** @param {Readonly<Record<string, unknown>>} expected @param {Step} step */
async function hear(expected, { hands, handsBase64, finds }) {
  const { value: line = '{}' } = await requests.next()
  const { id, file, ...asked } = JSON.parse(line)
  if (!isDeepStrictEqual(asked, expected)) throw new Error('The adapter said something else')
  if (finds !== undefined && readFileSync(file, 'utf8') !== finds) {
    throw new Error('The adapter handed something else over')
  }
  if (hands !== undefined) writeFileSync(file, hands, { flag: 'r+' })
  const bytes = handsBase64 === undefined ? undefined : Buffer.from(handsBase64, 'base64')
  if (bytes !== undefined) writeFileSync(file, bytes, { flag: 'r+' })
  lastId = id
}
