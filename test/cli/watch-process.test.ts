import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { isolatedEnvironment } from '../support/daemon-process.ts'
import { CREDENTIALS, startEventServer } from '../support/event-server.ts'
import { LOADER } from '../support/loader.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** The program, with the link on a stdin that never ends, when it has printed the current item. */
async function start(t: TestContext) {
  const server = await startEventServer(t)
  server.activate('first')
  const env = isolatedEnvironment(await temporaryFolder(t))
  const child = spawn(process.execPath, [...LOADER, MAIN, 'watch', '--json'], { env })
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.write(`${formatConnectLink({ url: server.url, ...CREDENTIALS })}\n`)
  const [stream, [line]] = await Promise.all([
    server.streams.next().then((scripted) => scripted.hello()),
    once(createInterface({ input: child.stdout }), 'line'),
  ])
  assert.equal(JSON.parse(String(line)).text, 'first')
  return { server, child, stream, stderr: () => stderr }
}

describe('clipgate watch, as a process,', () => {
  it('exits with 0 when it is told to stop', async (t) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      const { child, stream, stderr } = await start(t)
      child.kill(name)
      assert.deepEqual(await once(child, 'close'), [0, null])
      await stream.closed
      assert.equal(stderr(), '')
    }
  })

  it('exits with 0, and says nothing, when nobody reads what it prints', async (t) => {
    const { server, child, stream, stderr } = await start(t)
    child.stdout.destroy()
    server.activate('second')
    stream.event('update')
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal(stderr(), '')
  })
})
