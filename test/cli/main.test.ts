import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../support/requirements.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

type Stdio = 'pipe' | 'ignore'

function start(args: readonly string[], stdin: Stdio = 'ignore') {
  const { PATH, NODE_V8_COVERAGE } = process.env
  const env = { PATH, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }) }
  return spawn(process.execPath, [...process.execArgv, MAIN, ...args], {
    env,
    stdio: [stdin, 'pipe', 'pipe'],
  })
}

async function finish(
  child: ReturnType<typeof start>,
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

  it('fails when what it prints cannot be kept', needs('sh'), async () => {
    const command = `"$0" "$@" > /dev/full`
    const child = spawn(
      'sh',
      ['-c', command, process.execPath, ...process.execArgv, MAIN, 'help', 'serve'],
      { stdio: 'ignore' },
    )
    const [code] = await once(child, 'exit')
    assert.equal(code, 1)
  })
})
