/**
 * Strangers that fill a listener: a program of another user, where this one may start one.
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** Nobody, on most systems. */
const UID = 65_534

/** Without types and imports: another user may not be able to read the files of the tests. */
const PROGRAM = `
const { connect } = require('node:net')
const [port, count, bytes, isPersistent] = JSON.parse(process.argv[1])
let connected = 0
function come() {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(bytes, 'latin1')
    if (++connected === count) process.stdout.write('full')
  })
  // Who does not read does not hear either that it was hung up on.
  if (isPersistent) socket.resume()
  else socket.pause()
  socket.on('error', () => {})
  socket.on('close', () => isPersistent && come())
}
for (let index = 0; index < count; index++) come()
process.stdin.on('end', () => process.exit()).resume()
`

export interface CrowdOptions {
  readonly port: number
  readonly count: number
  /** What each of them sends, to read nothing of what it is answered. */
  readonly bytes: string
  /** Whoever is hung up on comes back at once. */
  readonly isPersistent?: boolean
}

/** Resolves when all of them are connected. @returns Ends them. */
export async function gather(
  t: TestContext,
  { port, count, bytes, isPersistent = false }: CrowdOptions,
): Promise<() => Promise<void>> {
  const argument = JSON.stringify([port, count, bytes, isPersistent])
  const other = process.getuid?.() === 0 ? { uid: UID, gid: UID } : {}
  const child = spawn(process.execPath, ['-e', PROGRAM, argument], {
    ...other,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }
}
