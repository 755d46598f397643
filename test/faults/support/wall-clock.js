/**
 * Preloaded into a daemon: at SIGUSR2 its wall clock is moved by the milliseconds that the file at
 * `CLIPGATE_TEST_CLOCK` holds; `CLIPGATE_TEST_CLOCK_AHEAD` are those by which it begins ahead. What
 * never jumps, the timers among it, stays as it is.
 * @module
 */

import { readFileSync } from 'node:fs'

const realNow = Date.now
let offset = Number(process.env['CLIPGATE_TEST_CLOCK_AHEAD'] ?? 0)

const now = () => realNow() + offset

globalThis.Date = new Proxy(Date, {
  construct: (target, given, self) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, self),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})

process.on('SIGUSR2', () => {
  offset += Number(readFileSync(process.env['CLIPGATE_TEST_CLOCK'] ?? '', 'utf8'))
})
