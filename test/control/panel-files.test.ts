import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createPanelFileRoutes } from '../../src/control/control-routes.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { createListener } from '../../src/http/listener.ts'
import { listen } from '../support/listen.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openControl } from './support/open-control.ts'

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'",
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Serves the files of a folder. */
async function serve(t: TestContext, folder: string) {
  const failures: unknown[] = []
  const listener = createListener({
    publicRoutes: createPanelFileRoutes(folder),
    routes: [],
    authenticate: () => {
      throw new HttpError('UNAUTHORIZED')
    },
    onFailure: (error) => failures.push(error.cause),
  })
  const port = await listen(t, createServer(listener))
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  return { get, failures }
}

describe('the page of the panel', () => {
  it('is there for everybody, under a policy that runs nothing but its own', async (t) => {
    const { ask } = await openControl(t)
    const paths = createPanelFileRoutes().map(({ pattern }) => pattern)
    assert.ok(paths.includes('/'), paths.join())
    for (const path of paths) {
      const { status, headers } = await ask(path)
      assert.equal(status, 200, path)
      assert.deepEqual({ ...headers, ...HEADERS }, { ...headers }, path)
      assert.equal(headers['set-cookie'], undefined)
      const again = await ask(path, { headers: { 'If-None-Match': String(headers['etag']) } })
      assert.deepEqual([again.status, again.body], [304, ''], path)
    }
    assert.match(String((await ask('/')).headers['content-type']), /^text\/html; charset=utf-8$/)
  })

  it('is made of the files in its folder, and of nothing else', async (t) => {
    const folder = await temporaryFolder(t)
    const files = {
      'panel.html': 'text/html; charset=utf-8',
      'panel.css': 'text/css; charset=utf-8',
      'panel.js': 'text/javascript; charset=utf-8',
      'icon.svg': 'image/svg+xml',
    }
    for (const path of Object.keys(files)) await writeFile(join(folder, path), `the ${path}`)
    const others = ['tsconfig.json', 'types.d.ts', '.hidden.js', 'other.js', 'no-extension']
    for (const name of others) await writeFile(join(folder, name), 'not for browsers')
    const { get } = await serve(t, folder)
    for (const [path, type] of Object.entries(files)) {
      const response = await get(path === 'panel.html' ? '/' : `/${path}`)
      assert.equal(response.status, 200, path)
      assert.equal(response.headers.get('content-type'), type)
      assert.equal(await response.text(), `the ${path}`)
    }
    const paths = [...others.map((name) => `/${name}`), '/panel.html', '/panel', '/panel/']
    const detours = ['/panel/../panel/panel.js', '/%2e%2e/panel-files.ts', '/panel%2fadd-device.js']
    for (const path of [...paths, ...detours]) {
      const { status } = await get(path)
      assert.ok(status === 401 || status === 400, `${path}: ${status}`)
    }
  })

  it('is read once', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'panel.html'), 'first')
    const { get } = await serve(t, folder)
    const first = await get('/')
    await writeFile(join(folder, 'panel.html'), 'second')
    assert.equal(await first.text(), 'first')
    assert.equal(await (await get('/')).text(), 'first')
  })

  it('that is missing is a failure of its own, until it is there', async (t) => {
    const folder = join(await temporaryFolder(t), 'none')
    const { get, failures } = await serve(t, folder)
    assert.equal((await get('/')).status, 500)
    assert.equal(failures.length, 1)
    await mkdir(folder)
    await writeFile(join(folder, 'panel.html'), 'there')
    assert.equal(await (await get('/')).text(), 'there')
  })
})
