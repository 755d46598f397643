import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LOADER } from '../support/loader.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

type Stdio = 'pipe' | 'ignore'

function start(args: readonly string[], stdin: Stdio = 'ignore', node: readonly string[] = []) {
  const { PATH, NODE_V8_COVERAGE } = process.env
  const env = { PATH, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }) }
  return spawn(process.execPath, [...LOADER, ...node, MAIN, ...args], {
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
    const child = spawn('sh', ['-c', command, process.execPath, ...LOADER, MAIN, 'help', 'serve'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const { code, stderr } = await finish(child)
    assert.deepEqual([code, stderr], [1, 'Cannot print all of it: ENOSPC\n'])
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
      const child = start(['link', 'decode'], 'pipe', ['--import', preload])
      const { code, stdout, stderr } = await finish(child)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, expected)
      assert.doesNotMatch(stderr, /secret/)
    }
  })
})
