import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once, on } from 'node:events'
import { watch } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { MIB } from '../../src/core/limits.ts'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { isolatedEnvironment } from '../support/daemon-process.ts'
import { CREDENTIALS, startEventServer } from '../support/event-server.ts'
import { listen } from '../support/listen.ts'
import { PROGRAM } from '../support/program.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Stdio = 'pipe' | 'ignore'

function start(args: readonly string[], stdin: Stdio = 'ignore', node: readonly string[] = []) {
  const { PATH, NODE_V8_COVERAGE } = process.env
  const env = { PATH, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }) }
  return spawn(process.execPath, [...node, ...PROGRAM, ...args], {
    env,
    stdio: [stdin, 'pipe', 'pipe'],
  })
}

async function finish(
  child: ChildProcess,
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

describe('the program', () => {
  it('prints on stdout, complains on stderr, and says how it ended', async () => {
    const [done, failed, wrong] = await Promise.all([
      finish(start(['version'])),
      finish(start(['link', 'decode'])),
      finish(start(['nonsense'])),
    ])
    assert.deepEqual([done.code, done.stderr], [0, ''])
    assert.match(done.stdout, /^clipgate /)
    assert.deepEqual([failed.code, failed.stdout], [1, ''])
    assert.deepEqual([wrong.code, wrong.stderr.split('\n').length], [2, 2])
  })

  it('does not wait for the end of a stdin that it has done with', async () => {
    const child = start(['link', 'decode'], 'pipe')
    // Never ended.
    child.stdin?.write('clip://connect?v=3\n')
    const { code, stderr } = await finish(child)
    assert.equal(code, 1)
    assert.match(stderr, /UNSUPPORTED_VERSION/)
  })

  it('does not mind when nobody reads what it prints', async () => {
    for (const [args, expected] of [
      [['help', 'serve'], 0],
      [['nonsense'], 2],
    ] as const) {
      const child = start(args)
      child.stdout?.destroy()
      child.stderr?.destroy()
      const [code, signal] = await once(child, 'exit')
      assert.deepEqual([code, signal], [expected, null])
    }
  })

  it('fails, and says so, when what it prints cannot be kept', needs('sh'), async () => {
    const command = `"$0" "$@" > /dev/full`
    const child = spawn('sh', ['-c', command, process.execPath, ...PROGRAM, 'help', 'serve'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const { code, stderr } = await finish(child)
    assert.deepEqual(
      [code, stderr],
      [1, 'Cannot print all of it: there is no space left (ENOSPC)\n'],
    )
  })

  it('tells of a failure that nobody foresaw in one line, which quotes nothing', async (t) => {
    const preload = join(await temporaryFolder(t), 'preload.mjs')
    for (const [thrown, expected] of [
      ["JSON.parse('{ my secret')", /^Unexpected failure: SyntaxError at [^\n]+\n$/],
      ["Promise.reject('my secret')", /^Unexpected failure: [^\n]+\n$/],
      ["{ throw new Error('Cannot go on') }", /^Cannot go on\n$/],
    ] as const) {
      // Once somebody listens.
      const script = `process.on('newListener', (name) => {
        if (name === 'uncaughtException') setImmediate(() => ${thrown})
      })`
      await writeFile(preload, script)
      // Waits for its stdin.
      const child = start(['link', 'decode'], 'pipe', ['--import', pathToFileURL(preload).href])
      const { code, stdout, stderr } = await finish(child)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, expected)
      assert.doesNotMatch(stderr, /secret/)
    }
  })
})

/** The program in surroundings of its own, with a link on a stdin that never ends. */
function startWith(
  t: TestContext,
  { link, folder, args }: { link: string; folder: string; args: readonly string[] },
) {
  const env = isolatedEnvironment(folder)
  const child = spawn(process.execPath, [...PROGRAM, ...args], { env })
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.write(`${link}\n`)
  return { child, closed: once(child, 'close'), stderr: () => stderr }
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
  return formatConnectLink({ url: `http://127.0.0.1:${await listen(t, server)}`, ...CREDENTIALS })
}

describe('clipgate pull, as a process,', () => {
  it('leaves nothing behind when it is interrupted, and ends as the signal has it', async (t) => {
    const link = await serveFile(t, 100, (response) => void response.write('half'))
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const folder = await temporaryFolder(t)
      const watcher = watch(folder)
      t.after(() => watcher.close())
      const changes = on(watcher, 'change')
      const args = ['pull', '--dir', folder]
      const { child, closed, stderr } = startWith(t, { link, folder, args })
      child.once('exit', () => void changes.return?.())
      for await (const [, file] of changes) if (String(file).endsWith('.part')) break
      child.kill(name)
      assert.deepEqual(await closed, [null, name], stderr())
      assert.deepEqual(await readdir(folder), [])
      assert.equal(stderr(), '')
    }
  })

  it('says nothing of its own to a reader that is slower than the network', async (t) => {
    const bytes = Buffer.alloc(4 * MIB, 'x')
    const link = await serveFile(t, bytes.length, (response) => void response.end(bytes))
    const folder = await temporaryFolder(t)
    const args = ['pull', '--output', '-']
    const { child, closed, stderr } = startWith(t, { link, folder, args })
    let received = 0
    for await (const piece of child.stdout) {
      received += piece.length
      // One turn of the loop for each piece, which is longer than a piece takes to come.
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(await closed, [0, null], stderr())
    assert.equal(received, bytes.length)
    assert.equal(stderr(), '')
  })
})

/** `clipgate watch`, when it has printed the current item. */
async function startWatch(t: TestContext) {
  const server = await startEventServer(t)
  server.activate('first')
  const link = formatConnectLink({ url: server.url, ...CREDENTIALS })
  const folder = await temporaryFolder(t)
  const { child, closed, stderr } = startWith(t, { link, folder, args: ['watch', '--json'] })
  const [stream, [line]] = await Promise.all([
    server.streams.next().then((scripted) => scripted.hello()),
    once(createInterface({ input: child.stdout }), 'line'),
  ])
  assert.equal(JSON.parse(String(line)).text, 'first')
  return { server, child, closed, stream, stderr }
}

describe('clipgate watch, as a process,', () => {
  it('exits with 0 when it is told to stop', async (t) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      const { child, closed, stream, stderr } = await startWatch(t)
      child.kill(name)
      assert.deepEqual(await closed, [0, null])
      await stream.closed
      assert.equal(stderr(), '')
    }
  })

  it('exits with 0, and says nothing, when nobody reads what it prints', async (t) => {
    const { server, child, closed, stream, stderr } = await startWatch(t)
    child.stdout.destroy()
    server.activate('second')
    stream.event('update')
    assert.deepEqual(await closed, [0, null])
    assert.equal(stderr(), '')
  })
})
