/**
 * A program of its own: prints how much memory a hasher keeps once it has been idle, in MiB.
 * @module
 */

import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { PasswordHasher } from '../../src/devices/password-hasher.ts'
import { FakeClock } from './fake-clock.ts'

/** What the system may take to get the memory back, and what may stay. */
const PATIENCE_MS = 10_000
const ENOUGH_MIB = 24

const clock = new FakeClock()
// The first run loads code that stays; what counts is what comes and goes after it.
const first = await work(1)
await first.close()
const before = anonymousMib()

await work(3)
clock.advance(5_000)
const start = performance.now()
while (kept() > ENOUGH_MIB && performance.now() - start < PATIENCE_MS) await setImmediate()
process.stdout.write(JSON.stringify({ kept: kept() }))

async function work(runs: number): Promise<PasswordHasher> {
  const hasher = new PasswordHasher({ clock })
  for (let run = 0; run < runs; run++) await hasher.hashPassword('password')
  return hasher
}

function kept(): number {
  return anonymousMib() - before
}

function anonymousMib(): number {
  const [, kib] = /RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) / 1024
}
