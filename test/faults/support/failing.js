/**
 * Preloaded into a daemon: at SIGUSR2 something fails that nobody waits for, as the file at
 * `CLIPGATE_TEST_FAILURE` says; its second line is a secret.
 * @module
 */

import { readFileSync } from 'node:fs'

process.on('SIGUSR2', () => {
  const text = readFileSync(process.env['CLIPGATE_TEST_FAILURE'] ?? '', 'utf8')
  const [kind, secret = ''] = text.split('\n')
  if (kind === 'exception') setImmediate(() => JSON.parse(secret))
  else if (kind === 'rejection') void Promise.reject(new TypeError(secret))
  else if (kind === 'no error') setImmediate(() => throwIt(secret))
})

/** @param {unknown} thrown */
function throwIt(thrown) {
  throw thrown
}
