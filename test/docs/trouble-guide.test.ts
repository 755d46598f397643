import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { execute } from '../support/execute.ts'

const PAGE = readFileSync(new URL('../../docs/guides/trouble.md', import.meta.url), 'utf8')

/** A proxy that knows nothing but the internet, and the variables of a shell that tell of it. */
async function openProxy(t: TestContext) {
  const asked: string[] = []
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.writeHead(502).end('The proxy does not know this host.')
  })
  server.on('connect', ({ url = '' }, socket) => {
    asked.push(url)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  return { asked, env: { http_proxy: url, https_proxy: url, HTTP_PROXY: url, HTTPS_PROXY: url } }
}

/** The variables that the page says to export. */
function exported(): Readonly<Record<string, string>> {
  const [, line = ''] = /^export (NODE_USE_ENV_PROXY=.*)$/m.exec(PAGE) ?? []
  return Object.fromEntries([...line.matchAll(/(\w+)=(\S+)/g)].map(([, ...pair]) => pair))
}

describe('docs/guides/trouble.md', () => {
  it('is right that commands ask no proxy, nor one for exceptions', async (t) => {
    const { asked, env } = await openProxy(t)
    for (const more of [{}, exported()]) {
      const daemon = await startDaemonProcess(t, {
        args: ['--headless'],
        devices: ['Work'],
        env: { ...env, ...more },
      })
      const { link } = await daemon.pair('Work')
      const file = join(daemon.folder, 'link')
      await writeFile(file, link)
      const text = join(daemon.folder, 'text')
      await writeFile(text, 'from work')
      await daemon.run('push', '--link-file', file, text)
      const { stdout } = await daemon.run('pull', '--link-file', file, '--output', '-')
      assert.equal(stdout, 'from work')
      await daemon.run('status')
    }
    assert.deepEqual(asked, [])
  })

  it('has a line for curl that asks no proxy, which it would ask', needs('curl'), async (t) => {
    const { asked, env } = await openProxy(t)
    const daemon = await startDaemonProcess(t, { args: ['--headless'] })
    const { username, password } = await daemon.pair('Work')
    const [, line = ''] = /^(curl --noproxy .*)$/m.exec(PAGE) ?? []
    const call = line
      .replace('URL', daemon.ready.gateway)
      .replace('USER:PASSWORD', `${username}:${password}`)
    const shell = async (command: string) =>
      (await execute('sh', ['-c', command], { env: { PATH: process.env['PATH'], ...env } })).stdout
    assert.match(await shell(call), /^\{"type":"Text"/)
    assert.deepEqual(asked, [])
    assert.match(await shell(call.replace("--noproxy '*'", '')), /does not know this host/)
  })
})
