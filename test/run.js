/**
 * Runs test files as `node --test` does, each in a process of its own: `node test/run.js FILE...`.
 *
 * Each file is made one with all that it imports before it is started, which saves the time to read
 * them one by one; and files of minutes are started first, so that none is left alone at the end.
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { stop } from 'esbuild'
import { bundleTests } from './support/bundle-tests.js'
import reportSkipped from './support/skipped-reporter.js'

const CACHE = 'node_modules/.cache'

/** What takes longest, first; whatever is not named comes last. */
const SLOW = ['windows', 'packaging', 'peers', 'phone', 'panel', 'faults', 'deploy', 'e2e']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '1' },
    /** Milliseconds for a file. */
    patience: { type: 'string', default: '600000' },
  },
})

mkdirSync(CACHE, { recursive: true })
const folder = resolve(mkdtempSync(join(CACHE, 'tests-')))
process.on('exit', () => rmSync(folder, { recursive: true }))

const files = positionals.map((path) => ({ path, rank: rankOf(path) }))
files.sort((one, other) => one.rank - other.rank)
await bundleTests(positionals, folder)
// It would keep more than a gigabyte until the last test has ended.
await stop()

const events = run({
  files: files.map(({ path }) => join(folder, path.replace(/\.ts$/, '.mjs'))),
  concurrency: Number(values.jobs),
  timeout: Number(values.patience),
})
events.on('test:fail', () => {
  process.exitCode = 1
})
for (const reporter of [new spec(), reportSkipped]) events.compose(reporter).pipe(process.stdout)

/** @param {string} path */
function rankOf(path) {
  const at = SLOW.indexOf(path.split('/')[1] ?? '')
  return at === -1 ? SLOW.length : at
}
