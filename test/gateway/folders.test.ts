import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { serveGuarded } from '../support/guarded-gateway.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'

const hrefs = (xml: string): readonly string[] =>
  [...xml.matchAll(/<href>([^<]*)<\/href>/g)].map(([, href = '']) => href)

describe('PROPFIND', () => {
  const rows = [
    { path: '/', depth: '1', found: ['/', '/file/'] },
    { path: '/', depth: '0', found: ['/'] },
    { path: '/', depth: 'infinity', found: ['/', '/file/'] },
    { path: '/', depth: undefined, found: ['/', '/file/'] },
    { path: '/file/', depth: '1', found: ['/file/'] },
    { path: '/file', depth: '0', found: ['/file/'] },
  ]
  for (const { path, depth, found } of rows) {
    // Protocol: `PROPFIND` on
    it(`of ${path} with a depth of ${depth} finds ${found.join(' and ')}, and never a file`, async (t) => {
      const { phone } = await serveGateway(t)
      await phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
      const headers = depth === undefined ? {} : { depth }
      const response = await phone.fetch(path, { method: 'PROPFIND', headers })
      assert.equal(response.status, 207)
      assert.match(response.headers.get('content-type') ?? '', /^application\/xml\b/)
      const body = await response.text()
      assert.match(body, /<multistatus xmlns="DAV:">/)
      assert.deepEqual(hrefs(body), found)
    })
  }

  it('has the path of the public URL, which clients compare with their own', async (t) => {
    const { phone } = await serveGateway(t, { publicUrl: 'https://home.example/a&b/' })
    const response = await phone.fetch('/', { method: 'PROPFIND' })
    assert.deepEqual(hrefs(await response.text()), ['/a&amp;b/', '/a&amp;b/file/'])
  })

  it('lets a WebDAV client list the folders', needs('cadaver'), async (t) => {
    const { phone, url } = await serveGateway(t)
    const home = await temporaryFolder(t)
    const [, pair = ''] = phone.authorization.split(' ')
    const [login, password] = Buffer.from(pair, 'base64').toString().split(':')
    const netrc = `machine 127.0.0.1 login ${login} password ${password}\n`
    await writeFile(join(home, '.netrc'), netrc, { mode: 0o600 })
    const running = execute('cadaver', [url], { env: { ...process.env, HOME: home } })
    running.child.stdin?.end('ls\nquit\n')
    const { stdout } = await running
    assert.match(stdout, /Coll:\s+file/)
  })
})

describe('MKCOL', () => {
  // Protocol: `MKCOL` on
  it('makes no folder, and says that it is there', async (t) => {
    const { phone } = await serveGateway(t)
    for (const path of ['/', '/file']) {
      const response = await phone.fetch(path, { method: 'MKCOL' })
      assert.deepEqual([response.status, await response.text()], [201, ''])
    }
  })
})

it('a program that looks every ten seconds whether the server is there costs one verification', async (t) => {
  const { ask, send, runs, phone } = await serveGuarded(t)
  const login = `Authorization: ${phone.authorization}`
  assert.equal((await ask(login)).status, 200)
  for (let second = 0; second < 300; second += 10) {
    const end = `HTTP/1.1\r\nHost: box\r\n${login}\r\n\r\n`
    assert.equal((await send(`PROPFIND / ${end}`)).status, 207)
    assert.equal((await send(`GET /api/version ${end}`)).status, 200)
  }
  assert.equal(runs.length, 1)
})
