import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readManifest } from '../../build/parts.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { makeRelease, PROJECT } from './support/make-release.ts'
import { createPackageServer } from './support/package-server.ts'

const CTRL_C = '\u0003'

/** Runs a command line in a terminal until it says that the daemon is ready, and presses Ctrl+C. */
async function watch(line: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const terminal = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(terminal, 'close')
  let screen = ''
  for await (const text of terminal.stdout.setEncoding('utf8')) {
    screen += text
    if (!screen.includes('Stop: Ctrl-C') || terminal.stdin.writableEnded) continue
    terminal.stdin.end(CTRL_C)
  }
  // npm has codes of its own for programs that end so.
  await closed
  return screen
}

describe('npx', needs('npx', 'script', 'make'), () => {
  it('goes from nothing to a QR code, and again without a network', async (t) => {
    const [project, home] = [await temporaryFolder(t), await temporaryFolder(t)]
    const name = `clipgate-${readManifest(PROJECT).version}.tgz`
    const release = await makeRelease(project)
    const server = createPackageServer()
    const port = await listen(t, server)
    const downloads = join(home, 'Downloads')
    await mkdir(downloads)
    await copyFile(join(release, name), join(downloads, name))
    const { PATH, TMPDIR } = process.env
    const env = {
      ...{ PATH, TMPDIR, HOME: home, TERM: 'xterm', LC_ALL: 'C.UTF-8' },
      ...{ CLIPGATE_LISTEN: '127.0.0.1:0', CLIPGATE_CONTROL: '127.0.0.1:0' },
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_update_notifier: 'false',
    }
    const first = await watch(`npx --yes ./${name} serve`, downloads, env)
    // A row of the code, in the colours that a camera needs.
    assert.match(first, /\u001b\[[\d;]+m▀/)
    assert.match(first, /clip:\/\/connect\?v=1&svc=mobile-sync&p=/)
    assert.match(first, /The password is shown this once\./)

    server.close()
    server.closeAllConnections()
    const again = await watch(`npx --yes --offline ./${name} serve`, downloads, env)
    assert.match(again, /clipgate is ready: http:/)
    assert.doesNotMatch(again, /clip:\/\/connect/)
  })
})
