import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SESSION_TTL_MS } from '../../src/control/panel-sessions.ts'
import { readCookies } from '../../src/control/read-cookies.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import fc from '../support/property.ts'
import { openControl, OWNER } from './support/open-control.ts'

const KEY = /^[\w-]{43}\n$/

describe('a ticket to the panel', () => {
  it('opens it once', async (t) => {
    const { ask, issue, url, port } = await openControl(t)
    const { path, ticket } = await issue()
    assert.match(ticket, /^[\w-]{43}$/)
    assert.equal(path, `/enter?ticket=${ticket}`)
    const entered = await ask(path)
    assert.equal(entered.status, 200)
    const cookie = String(entered.headers['set-cookie'])
    const pattern = `^clipgate_panel_${port}=[\\w.-]+; HttpOnly; SameSite=Strict; Path=/; Max-Age=604800$`
    assert.match(cookie, new RegExp(pattern))
    const [pair = ''] = cookie.split(';')
    assert.equal((await ask('/state', { headers: { Cookie: pair } })).status, 200)

    const again = await ask(path)
    assert.deepEqual([again.status, again.headers['location']], [303, '/'])
    assert.equal(again.headers['set-cookie'], undefined)
    assert.equal(new URL(url).port, String(port))
  })

  it('can be posted by a local file, so that no history has it, and by no other page', async (t) => {
    const { ask, issue, url } = await openControl(t)
    const { ticket } = await issue()
    const post = (body: string, Origin: string) => {
      const headers = { Origin, 'Content-Type': 'application/x-www-form-urlencoded' }
      return ask('/enter', { method: 'POST', headers, body })
    }
    const body = `ticket=${ticket}`
    for (const origin of ['http://evil.example', 'http://127.0.0.1:1', 'file://']) {
      assert.equal((await post(body, origin)).status, 403, origin)
    }
    const rebound = { Host: 'evil.example', Origin: 'null' }
    assert.equal((await ask('/enter', { method: 'POST', headers: rebound, body })).status, 403)
    for (const text of ['', 'ticket=', 'ticket', `ticket=x&${body}`, '\u0000', `{"ticket":"${ticket}"}`]) {
      const { status, headers } = await post(text, url)
      assert.deepEqual([status, headers['set-cookie']], [303, undefined], text)
    }
    assert.equal((await post(`${body}&x=${'y'.repeat(1024)}`, 'null')).status, 413)
    const entered = await post(body, 'null')
    assert.equal(entered.status, 200)
    assert.match(String(entered.headers['set-cookie']), /^clipgate_panel_/)
    assert.equal((await post(body, 'null')).status, 303)
  })

  it('leaves nothing of itself in the page, the address, the cache or the next request', async (t) => {
    const { ask, issue } = await openControl(t)
    const { path, ticket } = await issue()
    const { headers, body } = await ask(path)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.match(String(headers['content-security-policy']), /^default-src 'none'; .*frame-ancestors 'none'$/)
    assert.match(body, /http-equiv="refresh" content="0; url=\/"/)
    assert.ok(!body.includes(ticket), body)
    assert.ok(!JSON.stringify(headers).includes(ticket), 'the cookie is not the ticket')
  })

  it('is worth nothing after a minute', async (t) => {
    const { ask, issue, clock } = await openControl(t)
    const [late, inTime] = [await issue(), await issue()]
    clock.advance(59_999)
    assert.equal((await ask(inTime.path)).status, 200)
    clock.advance(1)
    assert.equal((await ask(late.path)).status, 303)
  })

  it('is one of sixteen at most: the oldest goes', async (t) => {
    const { ask, issue } = await openControl(t)
    const tickets = []
    for (let count = 0; count < 17; count++) tickets.push(await issue())
    const statuses = []
    for (const { path } of tickets) statuses.push((await ask(path)).status)
    assert.deepEqual(statuses, [303, ...Array(16).fill(200)])
  })

  it('is not used up by a program that looks at the link first', async (t) => {
    const { ask, issue } = await openControl(t)
    const { path } = await issue()
    const looked = await ask(path, { method: 'HEAD' })
    assert.deepEqual([looked.status, looked.headers['set-cookie']], [200, undefined])
    assert.equal((await ask(path)).status, 200)
  })

  it('cannot be guessed, made up, or left out', async (t) => {
    const { ask, issue, keyFile } = await openControl(t)
    const { ticket } = await issue()
    const wrong = ['', ticket.slice(1), `${ticket}A`, ticket.toLowerCase(), '__proto__', '%00']
    for (const text of [...wrong, `${ticket.slice(0, -2)}__`]) {
      if (text === ticket) continue
      const { status, headers } = await ask(`/enter?ticket=${text}`)
      assert.deepEqual([status, headers['set-cookie']], [303, undefined], text)
    }
    assert.equal((await ask('/enter')).status, 303)
    // No key was made for nobody.
    assert.equal(keyFile.text, undefined)
    assert.equal((await ask(`/enter?ticket=${ticket}`)).status, 200)
  })

  it('is made for those who have the token, and not for a session', async (t) => {
    const { ask, enter } = await openControl(t)
    const cookie = await enter()
    for (const headers of [{}, { Cookie: cookie }]) {
      const { status, body } = await ask('/panel/tickets', { method: 'POST', headers })
      assert.equal(status, 401, body)
    }
  })

  it('is not logged, and nor is the cookie or its key', async (t) => {
    const { ask, issue, enter, logger, keyFile } = await openControl(t)
    const { path, ticket } = await issue()
    await ask(path)
    await ask(path)
    const cookie = await enter()
    await ask('/state', { headers: { Cookie: cookie } })
    await ask('/none', { headers: { Cookie: cookie } })
    for (const secret of [ticket, cookie.split('=')[1] ?? '', keyFile.text?.trim() ?? '']) {
      assert.ok(secret.length > 20 && !logger.text.includes(secret), 'logged')
    }
  })
})

describe('a session of the panel', () => {
  it('survives a restart of the daemon', async (t) => {
    const first = await openControl(t)
    const cookie = await first.enter()
    assert.match(first.keyFile.text ?? '', KEY)
    await first.close()
    const { keyFile, port, clock } = first
    const { ask } = await openControl(t, { keyFile, port, clock })
    assert.equal((await ask('/state', { headers: { Cookie: cookie } })).status, 200)
  })

  it('ends after a week', async (t) => {
    const { ask, enter, clock } = await openControl(t)
    const cookie = await enter()
    clock.jump(SESSION_TTL_MS - 1)
    assert.equal((await ask('/state', { headers: { Cookie: cookie } })).status, 200)
    clock.jump(1)
    assert.equal((await ask('/state', { headers: { Cookie: cookie } })).status, 401)
  })

  it('ends with all others when one asks for that, streams included, for good', async (t) => {
    const first = await openControl(t)
    const [one, other] = [await first.enter(), await first.enter()]
    const stream = await first.follow({ Cookie: other })
    const command = await first.follow(OWNER)
    await stream.next()
    await command.next()
    const ended = await first.ask('/session', { method: 'DELETE', headers: { Cookie: one } })
    assert.deepEqual([ended.status, ended.body], [200, '{}'])
    assert.match(String(ended.headers['set-cookie']), /=; HttpOnly; SameSite=Strict; Path=\/; Max-Age=0$/)
    assert.equal(await stream.next(), undefined)
    for (const Cookie of [one, other]) {
      assert.equal((await first.ask('/state', { headers: { Cookie } })).status, 401)
    }
    assert.equal(first.keyFile.text, undefined)
    const third = await first.enter()
    assert.equal((await first.ask('/state', { headers: { Cookie: third } })).status, 200)
    assert.equal((await first.ask('/state', { headers: { Cookie: one } })).status, 401)

    const { keyFile, port, clock } = first
    first.control.closeStreams()
    await first.close()
    const { ask } = await openControl(t, { keyFile, port, clock })
    assert.equal((await ask('/state', { headers: { Cookie: other } })).status, 401)
    assert.equal((await ask('/state', { headers: { Cookie: third } })).status, 200)
  })

  it('ends at once also where its key cannot be removed, and that is told', async (t) => {
    const { ask, enter, keyFile, logger } = await openControl(t)
    const Cookie = await enter()
    keyFile.failure = new Error('the disk is on fire')
    assert.equal((await ask('/session', { method: 'DELETE', headers: { Cookie } })).status, 500)
    assert.match(logger.text, /on fire/)
    assert.equal((await ask('/state', { headers: { Cookie } })).status, 401)
  })

  it('is begun where its key cannot be kept: until the daemon ends', async (t) => {
    const keyFile = new MemoryPrivateFile()
    keyFile.failure = new Error('the disk is full')
    const { ask, enter, logger } = await openControl(t, { keyFile })
    const Cookie = await enter()
    assert.equal((await ask('/state', { headers: { Cookie } })).status, 200)
    assert.match(logger.text, /Sessions of the panel end with this daemon/)
  })

  it('has ended when the key is damaged, and a new one begins with a new key', async (t) => {
    const first = await openControl(t)
    const old = await first.enter()
    await first.close()
    const { port, clock } = first
    for (const text of ['', 'short', `${'x'.repeat(44)}`, '{"key":1}', `${'é'.repeat(43)}`]) {
      const keyFile = new MemoryPrivateFile(text)
      const { ask, enter, logger, close } = await openControl(t, { port, clock, keyFile })
      assert.equal((await ask('/state', { headers: { Cookie: old } })).status, 401)
      assert.match(logger.text, /panel\.key is damaged/)
      const Cookie = await enter()
      assert.equal((await ask('/state', { headers: { Cookie } })).status, 200)
      assert.match(keyFile.text ?? '', KEY)
      await close()
    }
  })

  it('does not begin with a cookie that was changed', async (t) => {
    const { ask, enter } = await openControl(t)
    const cookie = await enter()
    const value = cookie.indexOf('=') + 1
    for (let at = value; at < cookie.length; at++) {
      const other = cookie[at] === '1' ? '2' : '1'
      const changed = `${cookie.slice(0, at)}${other}${cookie.slice(at + 1)}`
      const { status } = await ask('/state', { headers: { Cookie: changed } })
      assert.equal(status, 401, `character ${at - value}`)
    }
    const [name = '', text = ''] = cookie.split('=')
    const [expiry = '', id = '', mac = ''] = text.split('.')
    for (const forged of [
      '', '..', text.slice(0, -1), `${text}A`, `${text}=`, ` ${text.slice(1)}`, `"${text}"`,
      `${Number(expiry) + 1}.${id}.${mac}`, `0${expiry}.${id}.${mac}`, `${expiry}.${mac}.${id}`,
      `${expiry}.${id}.${'A'.repeat(43)}`, 'undefined', 'null',
    ]) {
      const { status } = await ask('/state', { headers: { Cookie: `${name}=${forged}` } })
      assert.equal(status, 401, forged)
    }
  })

  it('is found among the cookies of others, also among some of its name', async (t) => {
    const { ask, enter, port } = await openControl(t)
    const cookie = await enter()
    const name = `clipgate_panel_${port}`
    const mine = [
      cookie,
      `a=b; ${cookie}; c=d`,
      `${name}=forged; ${cookie}`,
      `${cookie}; ${name}=forged`,
      `;;;=; ${name}; x${cookie}; ${cookie}`,
    ]
    for (const Cookie of mine) {
      assert.equal((await ask('/state', { headers: { Cookie } })).status, 200, Cookie)
    }
    const notMine = [
      `x${cookie}`,
      cookie.replace('panel', 'PANEL'),
      cookie.replace(`_${port}`, '_1'),
      cookie.replace('=', ' ='),
      `${`${name}=forged; `.repeat(8)}${cookie}`,
      cookie.slice(cookie.indexOf('=') + 1),
    ]
    for (const Cookie of notMine) {
      assert.equal((await ask('/state', { headers: { Cookie } })).status, 401, Cookie)
    }
  })

  it('is not looked for where a token was given', async (t) => {
    const { ask, enter } = await openControl(t)
    const Cookie = await enter()
    const headers = { Cookie, Authorization: 'Bearer wrong' }
    assert.equal((await ask('/state', { headers })).status, 401)
  })
})

describe('readCookies()', () => {
  const name = 'clipgate_panel_1'

  it('finds each value of exactly this name, in order, whatever is around', () => {
    const other = fc
      .tuple(fc.stringMatching(/^[a-zA-Z0-9_-]{0,20}$/), fc.stringMatching(/^[a-zA-Z0-9.=_-]{0,20}$/))
      .filter(([key]) => key !== name)
      .map(([key, value]) => `${key}=${value}`)
    const values = fc.array(fc.stringMatching(/^[a-zA-Z0-9.=_-]{0,60}$/), { maxLength: 8 })
    fc.assert(
      fc.property(values, fc.array(other, { minLength: 9, maxLength: 9 }), (mine, others) => {
        const pairs = mine.flatMap((value, index) => [others[index] ?? '', `${name}=${value}`])
        assert.deepEqual(readCookies([...pairs, others[8]].join('; '), name), mine)
      }),
    )
  })

  it('never throws, and never takes more than eight', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), fc.nat(20), (text, count) => {
        const header = `${text};${`${name}=${text};`.repeat(count)}`
        assert.ok(readCookies(header, name).length <= 8, 'bounded')
      }),
    )
    assert.deepEqual(readCookies(`${name}=x; ${'y'.repeat(20_000)}`, name), [])
    assert.deepEqual(readCookies(undefined, name), [])
  })
})
