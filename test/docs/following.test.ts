import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatConnectLink } from '../../src/link/connect-link.ts'
import { temporaryFolder } from '../support/daemon-process.ts'
import { CREDENTIALS, startEventServer } from '../support/event-server.ts'
import { LOADER } from '../support/loader.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('the program in docs/embedding.md that follows a clipboard', () => {
  it('runs as it stands there, and ends when it is told to', async (t) => {
    const page = await readFile(join(ROOT, 'docs/embedding.md'), 'utf8')
    const section = page.slice(page.indexOf('\n## Following a clipboard\n'))
    const code = /```ts\n([\s\S]+?)```/.exec(section)?.[1] ?? ''
    const folder = await temporaryFolder(t)
    // Like an installed package, but of the sources.
    await mkdir(join(folder, 'node_modules/clipgate'), { recursive: true })
    await symlink(join(ROOT, 'src'), join(folder, 'node_modules/clipgate/src'))
    const exports = { './client': './src/client.ts' }
    const manifest = JSON.stringify({ name: 'clipgate', type: 'module', exports })
    await writeFile(join(folder, 'node_modules/clipgate/package.json'), manifest)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'follow.ts'), code)

    const server = await startEventServer(t)
    server.activate('first')
    const LINK = formatConnectLink({ url: server.url, ...CREDENTIALS })
    // The loader is a package of ours, and the program runs in another folder.
    const loader = LOADER.map((argument) =>
      argument === 'tsx' ? import.meta.resolve('tsx') : argument,
    )
    const child = spawn(process.execPath, [...loader, join(folder, 'follow.ts')], {
      env: { ...process.env, LINK },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    const [lines, states] = [child.stdout, child.stderr].map((input) => createInterface({ input }))
    assert.ok(lines !== undefined && states !== undefined, 'both are piped')
    const [first, state, stream] = await Promise.all([
      once(lines, 'line'),
      once(states, 'line'),
      server.streams.next().then((scripted) => scripted.hello()),
    ])
    assert.deepEqual(JSON.parse(String(first[0])), { type: 'Text', text: 'first', size: 5 })
    assert.match(String(state[0]), /^connected/)
    server.activate('second')
    stream.event('update')
    assert.match(String((await once(lines, 'line'))[0]), /"second"/)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})
