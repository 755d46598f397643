import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPanelFileRoutes } from '../../src/control/control-routes.ts'
import { openControl, OWNER } from './support/open-control.ts'

describe('the address of the panel', () => {
  it('has a token in its fragment, which opens what the token of the commands opens', async (t) => {
    const { ask, address, page, url } = await openControl(t)
    const { origin, pathname, search, hash } = await address()
    assert.deepEqual([origin, pathname], [url, '/'])
    // A tab that shows the page already loads it again.
    assert.match(search, /^\?[\w-]{12}$/)
    assert.notEqual(search, (await address()).search)
    assert.match(hash, /^#[\w-]{43}$/)
    const headers = await page()
    for (const path of ['/state', '/status', '/devices', '/panel']) {
      assert.equal((await ask(path, { headers })).status, 200, path)
      assert.equal((await ask(path, { headers: OWNER })).status, 200, path)
    }
  })

  it('is the same one each time, and another one after a restart, where the earlier is worth nothing', async (t) => {
    const first = await openControl(t)
    const headers = await first.page()
    assert.deepEqual(await first.page(), headers)
    await first.close()
    const { ask, page } = await openControl(t, { port: first.port })
    assert.equal((await ask('/state', { headers })).status, 401)
    assert.notDeepEqual(await page(), headers)
  })

  it('opens nothing when anything of its token is changed, left out or added', async (t) => {
    const { ask, address } = await openControl(t)
    const token = (await address()).hash.slice(1)
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'A' ? 'B' : 'A'
      const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`
      const { status } = await ask('/state', { headers: { Authorization: `Bearer ${changed}` } })
      assert.equal(status, 401, `character ${at}`)
    }
    for (const Authorization of [
      token,
      `Basic ${token}`,
      `Bearer #${token}`,
      `Bearer ${token}A`,
      `Bearer ${token.slice(1)}`,
      `Bearer ${token.toLowerCase()}`,
      `Bearer ${token} ${token}`,
      `Bearer${token}`,
      'Bearer ',
    ]) {
      assert.equal((await ask('/state', { headers: { Authorization } })).status, 401, Authorization)
    }
    const inPaths = [`/state?token=${token}`, `/state?access_token=${token}`, `/panel/${token}`]
    for (const path of inPaths) assert.equal((await ask(path)).status, 401, path)
    assert.equal((await ask('/state', { headers: { Cookie: `token=${token}` } })).status, 401)
  })

  it('is worth nothing once all pages were signed out, streams included; commands go on', async (t) => {
    const { ask, page, follow } = await openControl(t)
    const headers = await page()
    const stream = await follow(headers)
    await stream.next()
    const ended = await ask('/panel', { method: 'DELETE', headers })
    assert.deepEqual([ended.status, ended.body], [200, '{}'])
    assert.equal(await stream.next(), undefined)
    assert.equal((await ask('/state', { headers })).status, 401)
    assert.equal((await ask('/state', { headers: OWNER })).status, 200)
    const others = await page()
    assert.notDeepEqual(others, headers)
    assert.equal((await ask('/state', { headers: others })).status, 200)
  })

  it('is not logged', async (t) => {
    const { ask, address, page, logger } = await openControl(t)
    const headers = await page()
    for (const path of ['/state', '/none']) await ask(path, { headers })
    const token = (await address()).hash.slice(1)
    assert.ok(token.length === 43 && !logger.text.includes(token), 'logged')
  })
})

describe('the control listener', () => {
  it('sets no cookie, and takes none for a login', async (t) => {
    const { ask, page } = await openControl(t)
    const headers = await page()
    const { Authorization = '' } = headers
    const Cookie = `clipgate_panel=${String(Authorization).slice('Bearer '.length)}`
    const paths = ['/health', '/state', '/panel', '/enter?ticket=x', '/none', '/item/preview']
    for (const path of [...paths, ...createPanelFileRoutes().map(({ pattern }) => pattern)]) {
      for (const given of [{}, headers, { Cookie }]) {
        const { headers: answered } = await ask(path, { headers: given })
        assert.equal(answered['set-cookie'], undefined, path)
      }
    }
    assert.equal((await ask('/state', { headers: { Cookie } })).status, 401)
  })
})
