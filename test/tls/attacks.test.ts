/**
 * Has the suites of plain HTTP run over TLS: what is sent to harm a server is the same there.
 * @module
 */

import { isNight } from '../support/night.ts'
import { speakTls } from '../support/secure-twin.ts'

speakTls()

// Requests that are malformed or pipelined, bodies that drip, stop, or wait in memory.
await import('../http/framing.test.ts')
await import('../http/pipelining.test.ts')
await import('../http/held-bytes.test.ts')
await import('../faults/slow-clients.test.ts')
await import('../faults/uploads.test.ts')

if (isNight) {
  await import('../faults/framing.test.ts')
  // Floods of connections, resets in the middle of requests, few descriptors.
  await import('../faults/connections.test.ts')
  await import('../faults/live-fuzz.test.ts')
  // Guesses, uploads that go on, and gigabytes that nobody reads.
  await import('../faults/logins.test.ts')
  await import('../faults/resumable-uploads.test.ts')
  await import('../faults/load.test.ts')
}
