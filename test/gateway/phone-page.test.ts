import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { PNG } from 'pngjs'
import { welcome } from '../../src/daemon/welcome.ts'
import { phonePageRoutes } from '../../src/gateway/phone-page.ts'
import { serveGateway, type ServeGatewayOptions } from '../support/gateway.ts'
import { readObject } from '../support/phone.ts'
import { RawClient, type RawResponse } from '../support/raw-http.ts'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
]

const HEADERS = {
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const BYTES = Buffer.from('0123456789')

/** A file as it travels: `fetch` would unpack it. */
async function get(url: string, takes: string) {
  const asked = request(url, { headers: { 'Accept-Encoding': takes } }).end()
  const [response] = await once(asked, 'response')
  return { headers: response.headers, body: await buffer(response) }
}

type Served = Awaited<ReturnType<typeof serveGateway>>

/** A gateway with a file on its clipboard, and raw requests to it. */
async function serve(t: TestContext, options: ServeGatewayOptions = {}) {
  const gateway = await serveGateway(t, options)
  await gateway.phone.pushFile('File', 'ten ä.bin', BYTES)

  async function send(
    method: string,
    path: string,
    ...fields: readonly string[]
  ): Promise<RawResponse> {
    const client = await RawClient.open(t, gateway.port)
    const head = [`${method} ${path} HTTP/1.1`, 'Host: box', 'Content-Length: 0', ...fields]
    return client.send([...head, '', ''].join('\r\n')).read(method)
  }

  return { ...gateway, send, authorized: `Authorization: ${gateway.authorization}` }
}

/** Asks for a ticket. */
async function takeTicket({ phone }: Pick<Served, 'phone'>): Promise<string> {
  const response = await phone.fetch('/phone/tickets', { method: 'POST' })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return String((await readObject(response))['path'])
}

describe('the phone page', () => {
  // Protocol: It is kept by browsers and asked for again
  it('is there for anybody, under a policy that runs nothing but its own', async (t) => {
    const { send, verifier, devices, logger } = await serve(t)
    const { calls } = verifier
    const seenAt = devices.list()[0]?.lastSeenAt
    const paths = phonePageRoutes().map(({ pattern }) => pattern)
    assert.ok(paths.length > 5 && paths.includes('/phone'), paths.join())
    for (const path of paths) {
      for (const field of [
        'X-Nothing: 1',
        'Authorization: junk',
        'Authorization: Basic bm86bm8=',
      ]) {
        const { status, headers } = await send('GET', path, field)
        assert.equal(status, 200, path)
        assert.deepEqual({ ...headers, ...HEADERS }, headers, path)
        const policy = String(headers['content-security-policy']).split('; ')
        assert.deepEqual(policy.toSorted(), POLICY.toSorted(), path)
        assert.equal(headers['set-cookie'], undefined)
        assert.equal(headers['access-control-allow-origin'], undefined)
      }
      const { status, headers, body } = await send('HEAD', path)
      assert.deepEqual([status, body], [200, ''], path)
      const again = await send('GET', path, `If-None-Match: ${headers['etag']}`)
      assert.deepEqual([again.status, again.body], [304, ''], path)
      assert.equal((await send('POST', path)).status, 405, path)
    }
    assert.equal(verifier.calls, calls)
    assert.equal(devices.list()[0]?.lastSeenAt, seenAt)
    assert.deepEqual(
      logger.lines.filter(({ level }) => level !== 'debug'),
      [],
    )
  })

  // Protocol: are the same for everybody
  it('is the same whatever is on the clipboard, and whoever asks', async (t) => {
    const { send, phone, authorized } = await serve(t)
    const before = await send('GET', '/phone')
    await phone.pushText('something else')
    const after = await send('GET', '/phone', authorized)
    assert.equal(after.body, before.body)
    assert.equal(after.headers['etag'], before.headers['etag'])
  })

  it('takes at most 34 kB, all of it, as it travels, and 60 kB as it is shipped', async (t) => {
    const { url } = await serveGateway(t)
    for (const [takes, most] of [
      ['gzip', 34_000],
      ['identity', 60_000],
    ] as const) {
      const sizes: number[] = []
      // Only a phone that puts the page on its home screen asks for one of those.
      const parts = phonePageRoutes().filter(({ pattern }) => !pattern.endsWith('.png'))
      for (const { pattern } of parts) {
        sizes.push((await get(`${url}${pattern}`, takes)).body.length)
      }
      assert.ok(sizes.reduce((sum, size) => sum + size) <= most, sizes.join(' + '))
    }
  })

  it('has icons for home screens, of the colours of the one that it is drawn of', async (t) => {
    const { url } = await serveGateway(t)
    const manifest = JSON.parse(String((await get(`${url}/phone/app.webmanifest`, '')).body))
    const icons: readonly { src: string; sizes: string }[] = manifest.icons
    const pngs = icons.filter(({ src }) => src.endsWith('.png'))
    assert.deepEqual(
      pngs.map(({ src, sizes }) => `${src} ${sizes}`),
      ['icon-192.png 192x192', 'icon-512.png 512x512', 'icon-maskable.png 512x512'],
    )
    assert.match(
      String((await get(`${url}/phone`, '')).body),
      /"apple-touch-icon" href="phone\/apple-/,
    )
    for (const { src, sizes } of [...pngs, { src: 'apple-touch-icon.png', sizes: '180x180' }]) {
      const { headers, body } = await get(`${url}/phone/${src}`, '')
      assert.equal(headers['content-type'], 'image/png')
      const { width, height, data } = PNG.sync.read(body)
      assert.equal(`${width}x${height}`, sizes)
      const at = (x: number, y: number) => {
        const from = 4 * (Math.floor(y * height) * width + Math.floor(x * width))
        return data.subarray(from, from + 4).toString('hex')
      }
      assert.equal(at(0.5, 0.1), '0b6b5dff', src)
      assert.equal(at(0.5, 0.7), '0b6b5dff', src)
      assert.ok(data.includes(Buffer.from('ffffffff', 'hex')), src)
      assert.ok(data.includes(Buffer.from('8fe3d3ff', 'hex')), src)
      const hasCorners = /maskable|apple/.test(src)
      assert.equal(at(0, 0), hasCorners ? '0b6b5dff' : '0b6b5d00', src)
    }
  })

  // Protocol: It travels packed by gzip
  it('travels packed to who takes that, and is the same then', async (t) => {
    const { url } = await serve(t)
    const file = `${url}/phone/phone.js`
    const plain = await get(file, 'identity')
    for (const takes of ['gzip', 'br;q=1, GZIP;q=0.5, *;q=0']) {
      const { headers, body } = await get(file, takes)
      assert.deepEqual([headers['content-encoding'], headers.vary], ['gzip', 'Accept-Encoding'])
      assert.notEqual(headers.etag, plain.headers.etag)
      assert.ok(body.length < plain.body.length / 2)
      assert.deepEqual(gunzipSync(body), plain.body)
    }
    for (const refuses of ['gzip;q=0', 'identity', 'br, gzip; q=0.0']) {
      const { headers } = await get(file, refuses)
      assert.equal(headers['content-encoding'], undefined, refuses)
    }
  })

  // Protocol: The bare address leads a person there
  it('is where the bare address leads a person, and no program', async (t) => {
    const { send, authorized, verifier } = await serve(t, { welcome })
    const { calls } = verifier
    const html = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8'
    const page = await send('GET', '/', html)
    assert.equal(page.status, 401)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    for (const words of [/<a href="phone">/, /run “clipgate pair”/, /运行“clipgate pair”/]) {
      assert.match(Buffer.from(page.body, 'latin1').toString(), words)
    }
    // A browser that knows the scheme would ask for a password first.
    assert.doesNotMatch(String(page.headers['www-authenticate']), /basic|digest|negotiate/i)
    assert.equal(page.headers['content-security-policy'], "default-src 'none'")
    assert.equal((await send('HEAD', '/', html)).body, '')
    assert.equal(verifier.calls, calls)
    const others: readonly (readonly string[])[] = [
      ['GET', '/'],
      ['GET', '/Sync.json', html],
      ['PROPFIND', '/', html],
      ['GET', '/', html, 'Authorization: Basic bm86bm8='],
    ]
    for (const [method = '', path = '', ...fields] of others) {
      const { status, headers } = await send(method, path, ...fields)
      assert.equal(status, 401)
      assert.match(String(headers['www-authenticate']), /^Basic /)
      assert.equal(headers['content-type'], 'application/problem+json')
    }
    assert.equal((await send('GET', '/', html, authorized)).body, 'Server is running.')
    const off = await serve(t)
    assert.match((await off.send('GET', '/', html)).body, /UNAUTHORIZED/)
  })

  it('opens nothing else, and no other file of its folder', async (t) => {
    const { send } = await serve(t)
    const paths = [
      ...['/', '/Sync.json', '/file/ten%20%C3%A4.bin', '/api/sse/clipboard', '/api/time'],
      ...['/phone/tsconfig.json', '/phone/phone.html', '/phone/nothing.js'],
      ...['/phone/../Sync.json', '/phone/%2e%2e/Sync.json', '/phone%2ficon.svg', '/Phone'],
    ]
    for (const path of paths) {
      const { status, body } = await send('GET', path)
      assert.equal(status, 401, path)
      assert.doesNotMatch(body, /0123456789|ten ä/)
    }
    assert.equal((await send('POST', '/phone/tickets')).status, 401)
  })

  // Protocol: pages lead (308)
  it('leads to where its files are found from who asks with slashes at the end', async (t) => {
    const trust = (path: string) => ({
      mediaType: 'text/html',
      headers: [],
      body: Buffer.from(path),
    })
    const { send } = await serve(t, { trust })
    for (const page of ['/phone', '/phone/trust', '/phone/trust/works']) {
      assert.equal((await send('GET', `${page}?a=/`)).status, 200, page)
      for (const asked of [`${page}/`, `${page}//`, `/${page}/`, `http://box${page}/`]) {
        for (const search of ['', '?a=b/']) {
          const target = asked + search
          const { status, headers, body } = await send('GET', target)
          assert.deepEqual([status, body], [308, ''], target)
          // Behind a proxy it may stand below a path.
          const below = target.replace('http://box', '')
          const { pathname } = new URL(String(headers['location']), `http://proxy/below${below}`)
          assert.equal(pathname.replaceAll('//', '/'), `/below${page}`, target)
        }
      }
    }
    assert.equal((await send('HEAD', '/phone/')).status, 308)
    const off = await serve(t, { phonePage: false })
    assert.equal((await off.send('GET', '/phone/')).status, 404)
  })

  it('that is switched off is 404 for everybody, and so are its tickets', async (t) => {
    const { send, authorized } = await serve(t, { phonePage: false })
    for (const fields of [[], [authorized]]) {
      assert.equal((await send('GET', '/phone', ...fields)).status, 404)
    }
    for (const path of ['/phone/phone.js', '/phone/tickets/x']) {
      assert.equal((await send('GET', path)).status, 401, path)
      assert.equal((await send('GET', path, authorized)).status, 404, path)
    }
    assert.equal((await send('POST', '/phone/tickets', authorized)).status, 404)
  })

  // Protocol: While the daemon stops, each new request gets 503
  it('is 503 while the daemon stops, also where it leads elsewhere or is switched off', async (t) => {
    for (const phonePage of [true, false]) {
      let isDraining = false
      const { send } = await serve(t, { phonePage, isDraining: () => isDraining })
      isDraining = true
      for (const path of ['/phone', '/phone/', '/phone/trust', '/phone/trust/', '/healthz']) {
        assert.equal((await send('GET', path)).status, 503, path)
      }
    }
  })
})

describe('a ticket', () => {
  it('leads to the bytes of the item, without credentials', async (t) => {
    const gateway = await serve(t)
    const { send, authorized } = gateway
    const path = await takeTicket(gateway)
    assert.match(path, /^\/phone\/tickets\/[\w.-]{60,120}$/)
    const { status, headers, body } = await send('GET', path)
    assert.deepEqual([status, body], [200, '0123456789'])
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['content-security-policy'], "sandbox; default-src 'none'")
    assert.match(String(headers['content-disposition']), /^attachment; .*ten%20%C3%A4\.bin/)
    const head = await send('HEAD', path)
    assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '10', ''])
    const part = await send('GET', path, 'Range: bytes=4-', `If-Range: ${headers['etag']}`)
    assert.deepEqual([part.status, part.body], [206, '456789'])
    assert.equal(part.headers['content-range'], 'bytes 4-9/10')
    assert.equal((await send('GET', path, 'Range: bytes=10-')).status, 416)
    assert.equal((await send('GET', path, `If-None-Match: ${headers['etag']}`)).status, 304)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.equal((await send(method, path)).status, 401, method)
      assert.equal((await send(method, path, authorized)).status, 405, method)
    }
  })

  it('is given for what has bytes only, and to devices only', async (t) => {
    const { url, phone } = await serveGateway(t)
    await phone.pushText('no bytes')
    assert.equal((await phone.fetch('/phone/tickets', { method: 'POST' })).status, 404)
    assert.equal((await fetch(`${url}/phone/tickets`, { method: 'POST' })).status, 401)
    assert.equal((await phone.fetch('/phone/tickets')).status, 405)
  })

  // Protocol: A ticket is good for ten minutes
  it('is good for ten minutes', async (t) => {
    const gateway = await serve(t)
    const { send, clock } = gateway
    const path = await takeTicket(gateway)
    clock.jump(3_600_000)
    clock.advance(10 * 60_000 - 1)
    assert.equal((await send('GET', path)).status, 200)
    clock.advance(1)
    assert.equal((await send('GET', path)).status, 404)
    assert.equal((await send('GET', await takeTicket(gateway))).status, 200)
  })

  const ends: Readonly<Record<string, (gateway: Served) => Promise<unknown>>> = {
    'the rotation of its device': ({ devices, device }) => devices.rotate(device.id),
    'the revocation of its device': ({ devices, device }) => devices.revoke(device.id),
    'another item of the same name': ({ phone }) =>
      phone.pushFile('File', 'ten ä.bin', Buffer.from('9876543210')),
    'the same bytes under another name': ({ phone }) => phone.pushFile('File', 'other', BYTES),
  }
  for (const [name, end] of Object.entries(ends)) {
    it(`ends with ${name}`, async (t) => {
      const gateway = await serve(t)
      const path = await takeTicket(gateway)
      await end(gateway)
      const { status, headers, body } = await gateway.send('GET', path)
      assert.equal(status, 404)
      assert.equal(headers['www-authenticate'], undefined)
      assert.doesNotMatch(body, /0123456789|9876543210/)
    })
  }

  it('stays good while a text is on the clipboard, and others come and go', async (t) => {
    const gateway = await serve(t)
    const path = await takeTicket(gateway)
    await gateway.phone.pushText('a text')
    const added = await gateway.devices.add({ kind: 'phone' })
    await gateway.devices.revoke(added.device.id)
    assert.equal((await gateway.send('GET', path)).status, 200)
  })

  it('is given for the current item alone, and not for what a text has replaced', async (t) => {
    const gateway = await serve(t)
    await gateway.phone.pushText('a text')
    const later = await gateway.addPhone()
    assert.equal((await later.fetch('/phone/tickets', { method: 'POST' })).status, 404)
  })

  it('breaks off in the tick of a revocation what it downloads', async (t) => {
    const gateway = await serve(t)
    await gateway.phone.pushFile('File', 'large', Buffer.alloc(64 * 2 ** 20))
    const client = await RawClient.open(t, gateway.port)
    client.send(`GET ${await takeTicket(gateway)} HTTP/1.1\r\nHost: box\r\n\r\n`)
    await client.readUntil('\r\n\r\n')
    client.socket.pause()
    await gateway.devices.revoke(gateway.device.id)
    await tick()
    client.socket.resume()
    assert.ok((await client.readToEnd()).length < 64 * 2 ** 20)
  })

  // Protocol: One that is not good is 404
  it('is not made up from another, and says nothing of why', async (t) => {
    const gateway = await serve(t)
    const good = (await takeTicket(gateway)).slice('/phone/tickets/'.length)
    const [device = '', expiry = '', mac = ''] = good.split('.')
    const other = (await gateway.addPhone()).fetch('/phone/tickets', { method: 'POST' })
    const ofOther =
      String((await readObject(await other))['path'])
        .split('/')
        .at(-1) ?? ''
    const flipped = `${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`
    const wrong = [
      ...[
        'x',
        'a.b',
        '..',
        `${device}.${expiry}`,
        `${device}.${expiry}.`,
        `${good}A`,
        `${good}%41`,
      ],
      `${device}.${expiry}.${flipped}`,
      `${device}.zzzzzzzz.${mac}`,
      `${ofOther.split('.')[0]}.${expiry}.${mac}`,
      `${device}.${expiry}.${ofOther.split('.')[2]}`,
      `${gateway.device.username}.${expiry}.${mac}`,
      good.toUpperCase(),
      'A'.repeat(5000),
    ]
    const bodies = new Set<string>()
    for (const ticket of wrong) {
      const { status, headers, body } = await gateway.send('GET', `/phone/tickets/${ticket}`)
      assert.ok(status === 404 || (status === 400 && ticket === '..'), `${status} ${ticket}`)
      assert.equal(headers['www-authenticate'], undefined)
      if (status === 404) bodies.add(body)
    }
    assert.equal(bodies.size, 1)
    assert.equal((await gateway.send('GET', `/phone/tickets/${good}`)).status, 200)
  })

  // Protocol: It stands in no log
  it('stands in no line of the log, also not when its file is broken', async (t) => {
    const gateway = await serve(t)
    const path = await takeTicket(gateway)
    const stored = gateway.latest.binary
    assert.ok(stored?.blob)
    t.mock.method(stored.blob, 'open', () => Promise.reject(new Error('The disk is broken')))
    assert.equal((await gateway.send('GET', path)).status, 500)
    assert.match(gateway.logger.text, /A request failed/)
    assert.ok(!gateway.logger.text.includes(path.split('.').at(-1) ?? ''), gateway.logger.text)
  })
})

describe('a page of another site', () => {
  const foreign = ['Origin: http://evil.example', 'Origin: null', 'Sec-Fetch-Site: cross-site']
  for (const field of foreign) {
    it(`gets no ticket, and changes nothing, with ${field}`, async (t) => {
      const { send, authorized, phone } = await serve(t)
      for (const [method, path] of [
        ['POST', '/phone/tickets'],
        ['PUT', '/Sync.json'],
        ['PUT', '/file/x'],
      ] as const) {
        const { status, headers, body } = await send(method, path, authorized, field)
        assert.equal(status, 403, path)
        assert.equal(JSON.parse(body).code, 'FORBIDDEN_ORIGIN')
        assert.equal(headers['access-control-allow-origin'], undefined)
      }
      assert.equal((await phone.document())['dataName'], 'ten ä.bin')
    })
  }

  it('may read and frame nothing', async (t) => {
    const gateway = await serve(t)
    const ticket = await takeTicket(gateway)
    for (const path of ['/phone', '/phone/phone.js', ticket]) {
      const { headers } = await gateway.send('GET', path, 'Origin: http://evil.example')
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
    }
    const asking = ['Origin: http://evil.example', 'Access-Control-Request-Method: POST']
    const { status, headers } = await gateway.send('OPTIONS', '/phone/tickets', ...asking)
    assert.equal(status, 401)
    assert.equal(headers['access-control-allow-methods'], undefined)
  })
})
