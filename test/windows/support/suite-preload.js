/**
 * What node.exe loads before each test file, below Wine.
 * @module
 */

import { createRequire, register, syncBuiltinESMExports } from 'node:module'
import { basename, dirname } from 'node:path'
import './wine-preload.cjs'
import { NOT_THERE } from './not-there.js'

// The sources are JavaScript there, under the names that they import each other by.
const hooks = `
import { readFile } from 'node:fs/promises'
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context)
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true }
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

const file = process.argv[1] ?? ''
const name = `${basename(dirname(file))}/${basename(file, '.test.mjs')}`
const reasons = new Map()
for (const [reason, files] of Object.entries(NOT_THERE)) {
  for (const title of files[name] ?? []) reasons.set(title, reason)
}
if (reasons.size > 0) {
  const tests = createRequire(import.meta.url)('node:test')
  /** @type {(title: string, ...rest: unknown[]) => unknown} */
  const original = tests.it
  const it = (/** @type {string} */ title, /** @type {unknown[]} */ ...rest) => {
    const skip = reasons.get(title)
    return skip === undefined ? original(title, ...rest) : original(title, { skip }, () => {})
  }
  tests.it = Object.assign(it, original)
  syncBuiltinESMExports()
}
