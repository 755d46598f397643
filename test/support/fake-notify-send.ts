/**
 * A program on the path of this process, by default `notify-send`, which tells the test what it was
 * called with.
 * @module
 */

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import { Mailbox } from './mailbox.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface FakeNotifySend {
  /** A path on which it comes first. */
  readonly path: string
  /** The arguments of each call. */
  readonly calls: Mailbox<readonly string[]>
}

export async function fakeNotifySend(
  t: TestContext,
  exitCode = 0,
  name = 'notify-send',
): Promise<FakeNotifySend> {
  const folder = await temporaryFolder(t)
  const calls = new Mailbox<readonly string[]>()
  const socket = join(folder, 'socket')
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    void text(connection).then((json) => {
      connection.end()
      // Nothing comes from one that was killed before it could speak.
      if (json !== '') calls.put(JSON.parse(json))
    })
  })
  server.listen(socket)
  await once(server, 'listening')
  t.after(() => server.close())
  const script = [
    `#!${process.execPath}`,
    `const socket = require('net').connect(${JSON.stringify(socket)})`,
    'socket.end(JSON.stringify(process.argv.slice(2)))',
    `socket.resume().on('close', () => process.exit(${exitCode}))`,
  ]
  await writeFile(join(folder, name), script.join('\n'), { mode: 0o755 })
  return { path: `${folder}${delimiter}${process.env['PATH'] ?? ''}`, calls }
}

/** Makes this process find programs there, until the test ends. */
export function usePath(t: TestContext, path: string): void {
  const before = process.env['PATH']
  process.env['PATH'] = path
  t.after(() => {
    process.env['PATH'] = before
  })
}
