import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { route, type Call } from '../../src/http/call.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { empty, json, text } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { head, serveKernel, type Owner } from '../support/http-kernel.ts'

const LOGIN = { authorization: 'yes' }

async function codeOf(response: Response): Promise<unknown> {
  // The body of a problem is an object.
  return ((await response.json()) as { readonly code: unknown }).code
}

describe('a listener', () => {
  it('answers with what a handler returns, now or later', async (t) => {
    const { url } = await serveKernel(t, {
      routes: [
        route('GET', '/now', () => json({ a: 1 }, { status: 201, headers: ['X-A', 'b'] })),
        route('GET', '/later/{name}', async ({ params }) => text(params.name)),
      ],
    })
    const now = await fetch(`${url}/now`, { headers: LOGIN })
    assert.equal(now.status, 201)
    assert.equal(now.headers.get('x-a'), 'b')
    assert.equal(now.headers.get('content-type'), 'application/json')
    assert.deepEqual(await now.json(), { a: 1 })
    const later = await fetch(`${url}/later/%C3%BC%2F`, { headers: LOGIN })
    assert.equal(await later.text(), 'ü/')
  })

  // Protocol: There is no `Server` header
  it('says the same about storing and sniffing with every answer', async (t) => {
    const { url } = await serveKernel(t, {
      routes: [route('GET', '/own', () => empty(200, ['Cache-Control', 'no-cache']))],
    })
    const expected = { '/': 'no-store', '/nope': 'no-store', '/own': 'no-cache' }
    for (const [path, cacheControl] of Object.entries(expected)) {
      const { headers } = await fetch(`${url}${path}`, { headers: LOGIN })
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('cache-control'), cacheControl)
      for (const name of ['server', 'x-powered-by', 'access-control-allow-origin']) {
        assert.equal(headers.get(name), null)
      }
    }
  })

  // Protocol: HEAD works wherever GET does
  it('answers HEAD wherever GET is, without a body', async (t) => {
    const client = await (await serveKernel(t)).connect()
    const answer = await client.send(head('HEAD /')).read('HEAD')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-length'], '4')
    assert.equal((await client.send(head('GET /')).read()).body, 'root')
  })

  it('answers 404 and 405 to those who have logged in, and 401 to all others', async (t) => {
    const { url } = await serveKernel(t)
    const unknown = await fetch(`${url}/nope`, { headers: LOGIN })
    assert.equal(unknown.status, 404)
    const problem = { title: 'No such resource', status: 404, code: 'NOT_FOUND' }
    assert.deepEqual(await unknown.json(), problem)
    const wrong = await fetch(url, { method: 'DELETE', headers: LOGIN })
    assert.equal(wrong.status, 405)
    assert.equal(wrong.headers.get('allow'), 'GET, HEAD')
    for (const [path, method] of [
      ['/', 'GET'],
      ['/nope', 'GET'],
      ['/', 'DELETE'],
      ['/%', 'GET'],
    ]) {
      const stranger = await fetch(`${url}${path}`, { method: method ?? 'GET' })
      assert.equal(stranger.status, 401)
      assert.equal(await codeOf(stranger), 'UNAUTHORIZED')
    }
  })

  it('lets everybody in to what is public, and looks at no credentials there', async (t) => {
    const { url } = await serveKernel(t, {
      authenticate: () => {
        throw new Error('not to be asked')
      },
    })
    for (const path of ['/public', '//public/', '/public?x']) {
      assert.equal((await fetch(`${url}${path}`)).status, 204)
    }
    assert.equal((await fetch(`${url}/public`, { method: 'POST' })).status, 405)
  })

  it('shows handlers who it is, from where, and what was asked', async (t) => {
    const seen: Call<Owner>[] = []
    const { connect } = await serveKernel(t, {
      trustedProxies: ['127.0.0.0/8'],
      routes: [
        route('GET', '/see', (call) => {
          seen.push(call)
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    await client.send(head('GET //see/?a=1&a=2', 'X-Forwarded-For: 6.6.6.6, 192.0.2.7')).read()
    const [call] = seen
    assert.equal(call?.principal, 'owner')
    assert.equal(call?.path, '/see')
    assert.equal(call?.method, 'GET')
    assert.equal(call?.host, 'box')
    assert.equal(call?.address, '192.0.2.7')
    assert.deepEqual(call?.query.getAll('a'), ['1', '2'])
    await client.send(head('GET http://other:1/see')).read()
    assert.equal(seen[1]?.host, 'other:1')
    assert.equal(seen[1]?.address, '127.0.0.1')
  })

  // Protocol: A `Content-Encoding` other than `identity` is 415
  it('refuses encoded bodies, unless the encoding is none', async (t) => {
    const take = route<Owner, '/take'>(
      'POST',
      '/take',
      async (call) => {
        await readBytes(call, 100)
        return empty(200)
      },
      { maxBody: 100 },
    )
    const { url } = await serveKernel(t, { routes: [take] })
    const post = (encoding: string) =>
      fetch(`${url}/take`, {
        method: 'POST',
        body: 'x',
        headers: { ...LOGIN, 'content-encoding': encoding },
      })
    assert.equal((await post('gzip')).status, 415)
    assert.equal((await post('identity')).status, 200)
  })
})

describe('failures', () => {
  // Protocol: No error shows a stack
  it('show their place in the protocol and nothing else', async (t) => {
    const { url, failures } = await serveKernel(t, {
      routes: [
        route('GET', '/busy', () => {
          throw new HttpError('OVERLOADED', { cause: new Error('secret') })
        }),
        route('GET', '/gone', async () => {
          throw new HttpError('NOT_FOUND', { detail: 'it was here', headers: ['X-A', 'b'] })
        }),
      ],
    })
    const busy = await fetch(`${url}/busy`, { headers: LOGIN })
    assert.equal(busy.status, 503)
    assert.equal(busy.headers.get('retry-after'), '1')
    assert.doesNotMatch(await busy.text(), /secret/)
    const gone = await fetch(`${url}/gone`, { headers: LOGIN })
    assert.equal(gone.headers.get('x-a'), 'b')
    assert.equal(gone.headers.get('content-type'), 'application/problem+json')
    assert.equal((await gone.text()).includes('it was here'), true)
    assert.deepEqual(failures, [])
  })

  it('from below are a 500 with an id, under which the reason was reported', async (t) => {
    const reason = new Error('disk on fire')
    const { url, failures } = await serveKernel(t, {
      routes: [
        route('GET', '/now', () => {
          throw reason
        }),
        route('GET', '/later', () => Promise.reject(reason)),
      ],
    })
    for (const [index, path] of ['/now', '/later'].entries()) {
      const response = await fetch(`${url}${path}`, { headers: LOGIN })
      const body = await response.text()
      assert.equal(response.status, 500)
      assert.doesNotMatch(body, /fire/)
      assert.equal(failures[index]?.error.cause, reason)
      assert.equal(JSON.parse(body).id, failures[index]?.id)
    }
    assert.notEqual(failures[0]?.id, failures[1]?.id)
  })

  it('include a reply that cannot be sent', async (t) => {
    const { url, failures } = await serveKernel(t, {
      routes: [route('GET', '/split', () => empty(200, ['X-A', 'b\r\nX-B: c']))],
    })
    const response = await fetch(`${url}/split`, { headers: LOGIN })
    assert.equal(response.status, 500)
    assert.equal(response.headers.get('x-b'), null)
    assert.equal(failures.length, 1)
  })

  it('while a failure is reported end the connection, and nothing more', async (t) => {
    const { url } = await serveKernel(t, {
      onFailure: () => {
        throw new Error('log full')
      },
      routes: [route('GET', '/bad', () => Promise.reject(new Error('bad')))],
    })
    await assert.rejects(fetch(`${url}/bad`, { headers: LOGIN }))
    assert.equal((await fetch(url, { headers: LOGIN })).status, 200)
  })
})

describe('pipelined requests', () => {
  /** A resource whose value each PUT replaces, in its own time. */
  async function serveValue(t: TestContext) {
    const puts: { readonly finish: () => void; readonly signal: AbortSignal }[] = []
    let arrived = defer<void>()
    let value = 'old'
    const served = await serveKernel(t, {
      routes: [
        route('GET', '/value', () => text(value)),
        route(
          'PUT',
          '/value',
          async (call) => {
            const body = Buffer.from(await readBytes(call, 100)).toString()
            const finished = defer<void>()
            puts.push({ finish: finished.resolve, signal: call.signal })
            arrived.resolve()
            await finished.promise
            value = body
            return empty(200)
          },
          { maxBody: 100 },
        ),
      ],
    })
    return {
      ...served,
      puts,
      nextPut: async () => {
        await arrived.promise
        arrived = defer()
        return puts.shift()
      },
    }
  }

  const put = (body: string): string => head('PUT /value', `Content-Length: ${body.length}`) + body

  it('see what those before them have changed', async (t) => {
    const { connect, nextPut, puts } = await serveValue(t)
    const client = await connect()
    const get = head('GET /value')
    client.send(get + put('one') + get + get + put('two') + get)
    assert.equal((await client.read()).body, 'old')
    const first = await nextPut()
    assert.equal(puts.length, 0, 'the second change waits for the first')
    first?.finish()
    assert.equal((await client.read()).status, 200)
    assert.equal((await client.read()).body, 'one')
    assert.equal((await client.read()).body, 'one')
    const second = await nextPut()
    second?.finish()
    assert.equal((await client.read()).status, 200)
    assert.equal((await client.read()).body, 'two')
  })

  // Protocol: requests whose turn has not come change nothing
  it('change nothing when their client has left before it was their turn', async (t) => {
    const { connect, nextPut, puts } = await serveValue(t)
    const client = await connect()
    client.send(put('one') + put('two'))
    const first = await nextPut()
    assert.notEqual(first, undefined)
    if (first === undefined) return
    const gone = once(first.signal, 'abort')
    client.close()
    await gone
    first.finish()
    const other = await connect()
    other.send(head('GET /value'))
    assert.equal((await other.read()).body, 'one')
    assert.equal(puts.length, 0)
  })

  it('are not served behind a change after which the connection ends', async (t) => {
    const { connect, nextPut, puts } = await serveValue(t)
    const client = await connect()
    client.send(head('PUT /value', 'Content-Length: 3', 'Connection: close') + 'one' + put('two'))
    const first = await nextPut()
    first?.finish()
    assert.match(await client.readToEnd(), /^HTTP\/1\.1 200 /)
    assert.equal(puts.length, 0)
  })
})

describe('a client that leaves', () => {
  it('aborts the signal, and is no failure', async (t) => {
    const started = defer<void>()
    const reasons = defer<unknown>()
    const { connect, failures } = await serveKernel(t, {
      routes: [
        route('GET', '/slow', async ({ signal }) => {
          started.resolve()
          await once(signal, 'abort')
          reasons.resolve(signal.reason)
          throw signal.reason
        }),
      ],
    })
    const client = await connect()
    client.send(head('GET /slow'))
    await started.promise
    client.close()
    assert.ok((await reasons.promise) instanceof Error)
    await (await connect()).send(head('GET /')).read()
    assert.deepEqual(failures, [])
  })

  it('is noticed by the requests that it has pipelined', async (t) => {
    const started = defer<void>()
    const aborted = defer<void>()
    const { connect } = await serveKernel(t, {
      routes: [
        route('GET', '/never', () => new Promise(() => {})),
        route('GET', '/second', async ({ signal }) => {
          started.resolve()
          await once(signal, 'abort')
          aborted.resolve()
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    client.send(head('GET /never') + head('GET /second'))
    await started.promise
    client.close()
    await aborted.promise
  })

  it('hides no failure that is one', async (t) => {
    const started = defer<void>()
    const reported = defer<unknown>()
    const { connect } = await serveKernel(t, {
      onFailure: ({ cause }) => reported.resolve(cause),
      routes: [
        route('GET', '/slow', async ({ signal }) => {
          started.resolve()
          await once(signal, 'abort')
          throw new Error('a bug')
        }),
      ],
    })
    const client = await connect()
    client.send(head('GET /slow'))
    await started.promise
    client.close()
    assert.match(String(await reported.promise), /a bug/)
  })

  it('finds the signal untouched once the answer is complete', async (t) => {
    const signals: AbortSignal[] = []
    const { connect, server } = await serveKernel(t, {
      routes: [
        route('GET', '/done', ({ signal }) => {
          signals.push(signal)
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    await client.send(head('GET /done')).read()
    await client.send(head('GET /')).read()
    client.close()
    await server.stop(0)
    await new Promise(setImmediate)
    assert.equal(signals[0]?.aborted, false)
  })
})

describe('a draining listener', () => {
  it('refuses all but what is public, and ends connections after their answers', async (t) => {
    let isDraining = false
    const { connect, ask } = await serveKernel(t, { isDraining: () => isDraining })
    const client = await connect()
    assert.equal((await client.send(head('GET /')).read()).headers['connection'], 'keep-alive')
    isDraining = true
    const refused = await client.send(head('GET /')).readToEnd()
    assert.match(refused, /^HTTP\/1\.1 503 /)
    assert.match(refused, /Retry-After: 1\r\n/)
    assert.match(refused, /Connection: close\r\n/)
    assert.match(refused, /"code":"DRAINING"/)
    assert.match(await ask('GET /public HTTP/1.1\r\nHost: box\r\n\r\n'), /^HTTP\/1\.1 204 .*close/s)
  })
})

describe('a browser', () => {
  const page = (method: string, ...fields: readonly string[]) => head(`${method} /`, ...fields)

  // Protocol: Behind a login a request, of whatever method, is 403
  it('may not send with its login what a page of another site made up', async (t) => {
    const client = await (
      await serveKernel(t, { publicUrl: 'https://clip.example/base' })
    ).connect()
    const foreign = [
      ['Sec-Fetch-Site: cross-site'],
      ['Origin: null'],
      ['Origin: http://evil.example'],
      ['Origin: https://box'],
      ['Origin: http://box:81'],
      ['Origin: http://clip.example'],
      ['Origin: http://box, http://evil.example'],
      ['Origin: HTTP://evil.example'],
      ['Origin: file://'],
      ['Origin: ws://evil.example'],
      ['Origin: extension://evil.example'],
      ['Origin: http://x-extension://evil.example'],
      ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: image'],
      ['Sec-Fetch-Site: same-site'],
      ['Sec-Fetch-Site: same-site', 'Sec-Fetch-Dest: image'],
    ]
    for (const method of ['GET', 'POST']) {
      for (const fields of foreign) {
        const answer = await client.send(page(method, ...fields)).read()
        assert.equal(answer.status, 403, fields.join())
        assert.equal(JSON.parse(answer.body).code, 'FORBIDDEN_ORIGIN')
        assert.equal(answer.headers['access-control-allow-origin'], undefined)
      }
    }
    const form = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: document']
    assert.equal((await client.send(page('POST', ...form)).read()).status, 403)
  })

  // Protocol: nor one of a browser extension
  it('may send what our own pages, extensions and people made', async (t) => {
    const client = await (
      await serveKernel(t, { publicUrl: 'https://clip.example/base' })
    ).connect()
    const own = [
      [],
      ['Sec-Fetch-Site: same-origin'],
      ['Sec-Fetch-Site: none'],
      ['Origin: http://box'],
      ['Origin: https://clip.example'],
      ['Origin: moz-extension://1234'],
      ['Origin: chrome-extension://abcd', 'Sec-Fetch-Site: cross-site'],
    ]
    for (const fields of own) {
      assert.equal((await client.send(page('POST', ...fields)).read()).status, 405, fields.join())
    }
  })

  it('may not send what a page made up that anybody on the way could have written', async (t) => {
    const client = await (
      await serveKernel(t, { publicUrl: 'https://clip.example/base' })
    ).connect()
    const send = (origin: string): string =>
      page('POST', `Origin: ${origin}`).replace('Host: box', 'Host: clip.example')
    assert.equal((await client.send(send('http://clip.example')).read()).status, 403)
    assert.equal((await client.send(send('https://clip.example')).read()).status, 405)
  })

  it('may follow a link from a page of another site', async (t) => {
    const client = await (await serveKernel(t)).connect()
    const link = page('GET', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: document')
    assert.equal((await client.send(link).read()).status, 200)
  })
})
