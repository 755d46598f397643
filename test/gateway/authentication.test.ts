import assert from 'node:assert/strict'
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import { setImmediate as tick } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import {
  basic,
  formatGet,
  passTime,
  serveGuarded,
  type GuardedGateway,
} from '../support/guarded-gateway.ts'
import { listen } from '../support/listen.ts'
import { createPhone } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'

/** Refusals that are told at once. */
const FREE_REFUSALS = 5

/** Runs that wrong passwords of one address may cost, one after the other. */
const RUNS = 60

/** A GET over `agent` with exactly these raw headers. */
function request(url: string, agent: Agent, headers: readonly string[]): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url)
    get(url, { agent, headers: ['Host', host, ...headers] }, (response) => {
      response.resume().on('end', () => resolve(response))
    }).on('error', reject)
  })
}

describe('a request', () => {
  it('costs a verification only when its credentials are well-formed', async (t) => {
    const { url, verifier } = await serveGateway(t)
    const malformed = ['Basic', 'junk', 'Basic bm9jb2xvbg==', `Basic ${'A'.repeat(4000)}`]
    for (const authorization of malformed) {
      await fetch(url, { headers: { authorization } })
    }
    assert.equal(verifier.calls, 0)
    await fetch(url, { headers: { authorization: `Basic ${btoa('nobody:x')}` } })
    assert.equal(verifier.calls, 1)
  })

  // Protocol: exactly one `Authorization`
  it('with two Authorization headers is refused, also when both are right', async (t) => {
    const { url, authorization, verifier } = await serveGateway(t)
    const agent = new Agent()
    const both = ['Authorization', authorization, 'authorization', authorization]
    assert.equal((await request(url, agent, both)).statusCode, 401)
    assert.equal(verifier.calls, 0)
  })

  // Protocol: Credentials are judged for each request
  it('is judged by itself, not by what its connection did before', async (t) => {
    const { url, authorization, verifier } = await serveGateway(t)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const statuses: (number | undefined)[] = []
    const good = ['Authorization', authorization]
    for (const headers of [good, [], good, ['Authorization', `Basic ${btoa('a:b')}`], good]) {
      statuses.push((await request(url, agent, headers)).statusCode)
    }
    assert.deepEqual(statuses, [200, 401, 200, 401, 200])
    assert.equal(verifier.calls, 2, 'the connection remembers the verified header')
  })

  it('is judged by the gateway that got it, on a connection that several have', async (t) => {
    const [one, other] = [await serveGateway(t), await serveGateway(t)]
    assert.equal(one.devices.revision, other.devices.revision)
    const server = createServer((request, response) => {
      const { gateway } = request.url === '/api/time' ? other : one
      gateway(request, response)
    })
    const url = `http://127.0.0.1:${await listen(t, server)}`
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const login = ['Authorization', one.authorization]
    assert.equal((await request(url, agent, login)).statusCode, 200)
    assert.equal((await request(`${url}/api/time`, agent, login)).statusCode, 401)
  })

  it('is refused right after rotation and revocation, on a connection of others too', async (t) => {
    const { url, authorization, devices, device, addPhone } = await serveGateway(t)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const other = ['Authorization', (await addPhone()).authorization]
    assert.equal((await request(url, agent, other)).statusCode, 200)
    const old = ['Authorization', authorization]
    assert.equal((await request(url, agent, old)).statusCode, 200)
    const { password } = await devices.rotate(device.id)
    assert.equal((await request(url, agent, old)).statusCode, 401)
    const rotated = ['Authorization', `Basic ${btoa(`${device.username}:${password}`)}`]
    assert.equal((await request(url, agent, rotated)).statusCode, 200)
    await devices.revoke(device.id)
    assert.equal((await request(url, agent, rotated)).statusCode, 401)
  })

  // Protocol: 503 with `Retry-After: 1` when too many password verifications wait
  it('gets 503 when too many verifications wait, also when it has come often', async (t) => {
    const { url, authorization, verifier, clock } = await serveGateway(t)
    verifier.isBusy = true
    for (let round = 0; round < 2 * RUNS; round++) {
      const start = clock.monotonic()
      const response = await passTime(clock, fetch(url, { headers: { authorization } }))
      await response.arrayBuffer()
      assert.equal(response.status, 503)
      assert.equal(response.headers.get('retry-after'), '1')
      if (round < FREE_REFUSALS) assert.equal(clock.monotonic(), start)
      if (round === FREE_REFUSALS) assert.equal(clock.monotonic() - start, 16)
    }
  })

  it('gets 500, and is not held back, when verifying fails for another reason', async (t) => {
    const { url, authorization, verifier, clock } = await serveGateway(t)
    const start = clock.monotonic()
    verifier.verify = () => Promise.reject(new Error('the worker ended'))
    for (let round = 0; round < 2 * FREE_REFUSALS; round++) {
      const response = await passTime(clock, fetch(url, { headers: { authorization } }))
      await response.arrayBuffer()
      assert.equal(response.status, 500)
    }
    assert.equal(clock.monotonic(), start)
  })

  it('is remembered as the last sign of its device', async (t) => {
    const { phone, devices, clock } = await serveGateway(t)
    await phone.fetch('/SyncClipboard.json', { headers: { 'user-agent': 'Shortcuts/1' } })
    const [device] = devices.list()
    assert.equal(device?.lastSeenAt, clock.now())
    assert.equal(device?.lastSeenAddress, '127.0.0.1')
    assert.equal(device?.lastClient, 'Shortcuts/1')
    assert.equal(device?.dialect, 'syncclipboard')
  })
})

/** A request's status, and for how many milliseconds it was held back. */
async function outcomeOf(
  { clock }: Pick<GuardedGateway, 'clock'>,
  answer: Promise<{ readonly status: number }>,
): Promise<readonly [status: number, delayMs: number]> {
  const start = clock.monotonic()
  const { status } = await passTime(clock, answer)
  return [status, clock.monotonic() - start]
}

/** Has an address fail as often as it may without delay. */
async function useUpFreeRefusals(at: GuardedGateway, ...fields: readonly string[]): Promise<void> {
  for (let refusal = 0; refusal < FREE_REFUSALS; refusal++) {
    const wrong = basic('nobody_1', `wrong ${refusal}`)
    assert.deepEqual(await outcomeOf(at, at.ask(wrong, ...fields)), [401, 0])
  }
}

/** Has an address fail, all at once, until its credentials have to come twice. */
async function useUpRuns(
  { ask, answered }: GuardedGateway,
  ...fields: readonly string[]
): Promise<void> {
  const guesses = Array.from({ length: RUNS + 1 }, (_, guess) =>
    ask(basic('nobody_1', `guess ${guess}`), ...fields),
  )
  const statuses = (await answered(Promise.all(guesses))).map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [...Array(RUNS).fill(401), 429])
}

describe('an address that keeps failing', () => {
  it('is told at once that credentials are missing or malformed', async (t) => {
    const at = await serveGuarded(t)
    await useUpRuns(at)
    const huge = `Basic ${'A'.repeat(4000)}`
    const malformed = ['Basic', 'Basic !', 'Bearer x', 'Basic bm9jb2xvbg==', huge].map((value) => [
      `Authorization: ${value}`,
    ])
    for (const fields of [[], ...malformed]) {
      assert.deepEqual(await outcomeOf(at, at.ask(...fields)), [401, 0])
    }
  })

  it('keeps no device waiting, whether it has been there before or not', async (t) => {
    const at = await serveGuarded(t)
    const newcomer = createPhone(await pair(at), at.url)
    assert.deepEqual(await outcomeOf(at, at.phone.fetch('/')), [200, 0])
    for (let guess = 0; guess < RUNS / 2; guess++) {
      await at.answered(at.ask(basic(at.device.username, `wrong ${guess}`)))
    }
    const { length } = at.runs
    assert.deepEqual(await outcomeOf(at, at.phone.fetch('/')), [200, 0])
    assert.equal(at.runs.length, length)
    assert.deepEqual(await outcomeOf(at, newcomer.fetch('/')), [200, 0])
    assert.equal(at.runs.length, length + 1)
  })

  it('has to send each pair twice in the end: the first time costs no run', async (t) => {
    const at = await serveGuarded(t)
    await useUpRuns(at)
    const { length } = at.runs
    const guesses = [at.device.username, 'nobody_2'].map((username) => basic(username, 'one more'))
    const askAll = () => at.answered(Promise.all(guesses.map((guess) => at.ask(guess))))
    for (const { status, headers, body } of await askAll()) {
      assert.deepEqual([status, headers['retry-after']], [429, '1'])
      assert.equal(JSON.parse(body).code, 'TOO_MANY_REQUESTS')
    }
    assert.equal(at.runs.length, length)
    assert.deepEqual(
      (await askAll()).map(({ status }) => status),
      [401, 401],
    )
    assert.equal(at.runs.length, length + 2)
  })

  // Protocol: Only refusals are slowed, and nobody is locked out
  it('locks nobody out: who is right gets in when it comes again, and is known then', async (t) => {
    const at = await serveGuarded(t)
    const newcomer = createPhone(await pair(at), at.url)
    await at.phone.fetch('/')
    await useUpRuns(at)
    assert.deepEqual(await outcomeOf(at, at.phone.fetch('/')), [200, 0])
    assert.deepEqual(await outcomeOf(at, newcomer.fetch('/')), [429, 500])
    assert.deepEqual(await outcomeOf(at, newcomer.fetch('/')), [200, 0])
    assert.deepEqual(await outcomeOf(at, newcomer.fetch('/')), [200, 0])
  })

  it('may have a device with an old password that asks each second for ever', async (t) => {
    const at = await serveGuarded(t)
    const old = createPhone({ ...at.device, password: at.password }, at.url)
    const poll = async (): Promise<void> => {
      for (let second = 0; second < 120; second++) {
        assert.deepEqual(await outcomeOf(at, old.fetch('/')), [401, 0])
        at.clock.advance(1000)
      }
    }
    await at.devices.rotate(at.device.id)
    await poll()
    assert.equal(at.runs.length, 1)
    const newcomer = createPhone(await pair(at), at.url)
    await poll()
    assert.equal(at.runs.length, 2, 'one for each state of the registry')
    assert.deepEqual(await outcomeOf(at, newcomer.fetch('/')), [200, 0])
  })

  it('cannot tell users that there are from users that there are not', async (t) => {
    const traces = []
    for (const isThere of [true, false]) {
      const at = await serveGuarded(t)
      const username = isThere ? at.device.username : 'nobody_1'
      const trace: unknown[] = []
      const guess = async (password: string): Promise<void> => {
        const [runs, start] = [at.runs.length, at.clock.monotonic()]
        const answer = await at.answered(at.ask(basic(username, password)))
        const { date: _, ...headers } = answer.headers
        const cost = { runs: at.runs.length - runs, delayMs: at.clock.monotonic() - start }
        trace.push({ ...answer, headers, ...cost })
      }
      for (let index = 0; index < 12; index++) await guess(`wrong ${index >> 1}`)
      at.clock.advance(60_000)
      await useUpRuns(at)
      for (const password of ['once', 'once', 'once']) await guess(password)
      traces.push(trace)
    }
    assert.deepEqual(traces[0], traces[1])
  })
})

describe('a proxy', () => {
  const options = { trustedProxies: ['127.0.0.1'] }

  it('that tells for whom it asks is not what fails', async (t) => {
    const at = await serveGuarded(t, options)
    await useUpRuns(at, 'X-Forwarded-For: 203.0.113.1')
    await useUpFreeRefusals(at, 'X-Forwarded-For: 203.0.113.2')
    const right = at.ask(`Authorization: ${at.authorization}`, 'X-Forwarded-For: 203.0.113.3')
    assert.deepEqual(await outcomeOf(at, right), [200, 0])
  })

  it('that does not tell is one address: names made up behind it do not make it many', async (t) => {
    const at = await serveGuarded(t, options)
    const guesses = Array.from({ length: RUNS + 1 }, (_, guess) =>
      at.ask(basic(`nobody_${guess}`, 'wrong')),
    )
    const statuses = (await at.answered(Promise.all(guesses))).map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [...Array(RUNS).fill(401), 429])
    const right = (): ReturnType<typeof at.ask> => at.ask(`Authorization: ${at.authorization}`)
    assert.deepEqual(await outcomeOf(at, right()), [429, 500])
    assert.deepEqual(await outcomeOf(at, right()), [200, 0])
  })

  it('that is not trusted cannot make one client out to be many', async (t) => {
    const at = await serveGuarded(t)
    const guesses = Array.from({ length: RUNS + 1 }, (_, guess) =>
      at.ask(basic('nobody_1', `guess ${guess}`), `X-Forwarded-For: 203.0.113.${guess}`),
    )
    await at.answered(Promise.all(guesses))
    assert.equal(at.runs.length, RUNS)
  })
})

describe('a thousand answers that are held back', () => {
  // Protocol: Wrong credentials get 429 at once while 1,024 answers are held back
  it('keep nobody waiting, and are enough: more are 429 at once', async (t) => {
    const at = await serveGuarded(t)
    await useUpFreeRefusals(at)
    const clients = await Promise.all(Array.from({ length: 64 }, () => RawClient.connect(at.port)))
    t.after(() => {
      for (const client of clients) client.close()
    })
    for (const client of clients) client.send(formatGet(basic('nobody_1', 'wrong 0')).repeat(16))
    while (at.clock.pending < 1024) await tick()
    const { status, headers } = await at.ask(basic('nobody_1', 'wrong 0'))
    assert.deepEqual([status, headers['retry-after']], [429, '1'])
    assert.equal((await at.phone.fetch('/')).status, 200)
    at.clock.advance(500)
    for (const client of clients) {
      for (let answer = 0; answer < 16; answer++) assert.equal((await client.read()).status, 401)
    }
    assert.equal(at.clock.pending, 0)
  })
})

/** Pairs another device, which has not been there yet. */
async function pair({ devices }: GuardedGateway) {
  const { device, password } = await devices.add({ kind: 'phone' })
  return { username: device.username, password }
}
