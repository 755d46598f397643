import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { buildProgram } from '../faults/support/built-program.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { main } = await buildProgram()

/** What a daemon has loaded by its end: parts of Node, and files of ours. */
async function loadedBy(t: TestContext, ...args: readonly string[]): Promise<readonly string[]> {
  const folder = await temporaryFolder(t)
  const [coverage, hook] = [join(folder, 'coverage'), join(folder, 'hook.cjs')]
  const list = join(folder, 'list')
  await mkdir(coverage)
  const write = `require('node:fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join())`
  await writeFile(hook, `process.on('exit', () => ${write})`)
  const env = { NODE_OPTIONS: `--require ${hook}`, NODE_V8_COVERAGE: coverage }
  const daemon = await startDaemonProcess(t, { main, args: ['--headless', ...args], env })
  assert.equal(await daemon.stop(), 0)
  const [name = ''] = await readdir(coverage)
  const { result } = JSON.parse(await readFile(join(coverage, name), 'utf8'))
  const own: readonly string[] = result.map(({ url }: { readonly url: string }) => basename(url))
  return [...(await readFile(list, 'utf8')).split(','), ...own].filter((one) =>
    /^(?:NativeModule _tls_wrap|(?:handshakes|follow-identity|local-identity|trust-page)-.*)$/.test(
      one,
    ),
  )
}

describe('a start without TLS', () => {
  it('loads nothing of it', async (t) => {
    assert.deepEqual(await loadedBy(t), [])
    const secure = await loadedBy(t, '--tls', 'local', '--tls-listen', '127.0.0.1:0')
    // It can be seen.
    assert.ok(secure.length > 3, String(secure))
  })
})
