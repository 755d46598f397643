import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/daemon-process.ts'
import { LOADER } from '../support/loader.ts'
import { createPhone } from '../support/phone.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('the server in docs/embedding.md', () => {
  it('runs as it stands there, and serves a phone', async (t) => {
    const page = await readFile(join(ROOT, 'docs/embedding.md'), 'utf8')
    const code = /```ts\n([\s\S]+?)```/.exec(page)?.[1] ?? ''
    const folder = await temporaryFolder(t)
    // Like an installed package, but of the sources.
    await mkdir(join(folder, 'node_modules/clipgate'), { recursive: true })
    await symlink(join(ROOT, 'src'), join(folder, 'node_modules/clipgate/src'))
    const manifest = { name: 'clipgate', type: 'module', exports: './src/index.ts' }
    await writeFile(join(folder, 'node_modules/clipgate/package.json'), JSON.stringify(manifest))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'server.ts'), code)

    const args = [...LOADER.map(resolveLoader), join(folder, 'server.ts'), join(folder, 'data')]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const { address, user, password } = JSON.parse(String(line))

    const phone = createPhone({ username: user, password }, `http://127.0.0.1:${address.port}`)
    await phone.pushText('hello')
    assert.equal((await phone.document())['text'], 'hello')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})

/** The loader is a package of ours, and the server runs in another folder. */
function resolveLoader(argument: string): string {
  return argument === 'tsx' ? import.meta.resolve('tsx') : argument
}
