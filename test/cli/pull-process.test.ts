import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once, on } from 'node:events'
import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MIB } from '../../src/core/limits.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { isolatedEnvironment } from '../support/daemon-process.ts'
import { CREDENTIALS } from '../support/event-server.ts'
import { LOADER } from '../support/loader.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** A server of a file whose bytes stop coming in the middle. */
function serveHalf(t: TestContext): Promise<string> {
  return serveFile(t, 100, (response) => void response.write('half'))
}

/** A server of a file. @returns A link to it. */
async function serveFile(
  t: TestContext,
  size: number,
  send: (response: ServerResponse) => void,
): Promise<string> {
  const document = { type: 'File', hasData: true, dataName: 'a.bin', size }
  const server = createServer((request, response) => {
    if (request.url === '/Sync.json') response.end(JSON.stringify(document))
    else send(response.writeHead(200, { 'Content-Length': size }))
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return formatConnectLink({ url: `http://127.0.0.1:${port}`, ...CREDENTIALS })
}

describe('clipgate pull, as a process,', () => {
  it('leaves nothing behind when it is interrupted, and ends as the signal has it', async (t) => {
    const link = await serveHalf(t)
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const folder = await temporaryFolder(t)
      const watcher = watch(folder)
      t.after(() => watcher.close())
      const changes = on(watcher, 'change')
      const args = [...LOADER, MAIN, 'pull', '--dir', folder]
      const child = spawn(process.execPath, args, { env: isolatedEnvironment(folder) })
      t.after(() => child.kill('SIGKILL'))
      child.once('exit', () => void changes.return?.())
      const closed = once(child, 'close')
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      child.stdin.end(`${link}\n`)
      for await (const [, file] of changes) if (String(file).endsWith('.part')) break
      child.kill(name)
      assert.deepEqual(await closed, [null, name], stderr)
      assert.deepEqual(await readdir(folder), [])
      assert.equal(stderr, '')
    }
  })

  it('says nothing of its own to a reader that is slower than the network', async (t) => {
    const bytes = Buffer.alloc(4 * MIB, 'x')
    const link = await serveFile(t, bytes.length, (response) => void response.end(bytes))
    const args = [...LOADER, MAIN, 'pull', '--output', '-']
    const env = isolatedEnvironment(await temporaryFolder(t))
    const child = spawn(process.execPath, args, { env })
    t.after(() => child.kill('SIGKILL'))
    const closed = once(child, 'close')
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.stdin.end(`${link}\n`)
    let received = 0
    for await (const piece of child.stdout) {
      received += piece.length
      // One turn of the loop for each piece, which is longer than a piece takes to come.
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(await closed, [0, null], stderr)
    assert.equal(received, bytes.length)
    assert.equal(stderr, '')
  })
})
