import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, it, type TestContext } from 'node:test'
import { openServer } from '../../src/client/server.ts'
import { watch } from '../../src/client/watch.ts'
import { isLoopbackAddress } from '../../src/fetch/check-connection.ts'
import { createNodeFetch } from '../../src/fetch/node-fetch.ts'
import { ClientClock } from '../client/support/client-clock.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { listen } from '../support/listen.ts'
import { LOADER } from '../support/program.ts'
import { makeMachine, needsMachines } from '../support/machines.ts'
import { Mailbox } from '../support/mailbox.ts'

const PULL_ONCE = fileURLToPath(new URL('./support/pull-once.ts', import.meta.url))

const PIN = 'ab'.repeat(32)

const TIMEOUT_MS = 30_000

/** Accepts, reads, and never says a word. */
async function startSilentServer(t: TestContext) {
  /** Each connection, when the first bytes of a handshake or of a request have come. */
  const accepted = new Mailbox<Socket>()
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
    socket.once('data', () => accepted.put(socket)).resume()
  })
  const port = await listen(t, server)
  t.after(() => {
    for (const socket of open) socket.destroy()
  })
  return { port, accepted, open }
}

/** Sends a request over a pinned link, which has its connection and waits for the handshake. */
async function askSilentServer(t: TestContext) {
  const { port, accepted } = await startSilentServer(t)
  const clock = new FakeClock()
  const { fetch, close } = createNodeFetch(PIN, { clock })
  t.after(close)
  const { signal } = new AbortController()
  const asking = fetch(`https://127.0.0.1:${port}/`, { method: 'GET', headers: {}, signal })
  const closed = once(await accepted.next(), 'close')
  return { clock, close, asking, closed }
}

describe('a link to a server that never finishes a handshake', () => {
  for (const [name, fingerprint] of [
    ['pinned', PIN],
    ['not pinned', undefined],
  ] as const) {
    it(`has one connection at most, however often it tries (${name})`, async (t) => {
      const { port, accepted, open } = await startSilentServer(t)
      const clock = new ClientClock()
      const { fetch, close } = createNodeFetch(fingerprint, { clock: new FakeClock() })
      t.after(close)
      const states = new Mailbox<string>()
      const ending = new AbortController()
      const url = `https://127.0.0.1:${port}`
      const credentials = { url, username: 'peer_1', password: 'password' }
      const server = openServer(credentials, { timeoutMs: TIMEOUT_MS, clock, send: fetch })
      const onState = ({ name: state }: { readonly name: string }) => states.put(state)
      const documents = watch(server, { signal: ending.signal, onState })
      const watching = assert.rejects(documents.next())
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const socket = await accepted.next()
        assert.equal(open.size, 1)
        const closed = once(socket, 'close')
        clock.advance(TIMEOUT_MS)
        await closed
        // After the stream it tries the document at once, and then waits.
        if (attempt % 2 === 0) continue
        assert.equal(await states.next(), 'waiting')
        clock.advance(TIMEOUT_MS)
      }
      ending.abort()
      await watching
    })
  }

  it('gives a connection up after half a minute, also when its request may take hours', async (t) => {
    const { clock, asking, closed } = await askSilentServer(t)
    clock.advance(TIMEOUT_MS)
    await assert.rejects(asking, ({ cause }: Error) => Object(cause).code === 'ETIMEDOUT')
    await closed
  })

  it('has no connection left once it is closed', async (t) => {
    const { asking, closed, close } = await askSilentServer(t)
    close()
    await Promise.all([assert.rejects(asking), closed])
  })
})

describe('the password of a group', () => {
  it('is not sent to this machine by way of a name that leads here', needsMachines(), async (t) => {
    const hosts = { 'member.example': '127.0.0.1', 'six.example': '::1', 'own.example': '10.9.8.7' }
    const machine = await makeMachine(t, 'resolver', hosts)
    await machine.ip('address', 'add', '10.9.8.7/32', 'dev', 'lo')
    const command = [process.execPath, ...LOADER, PULL_ONCE]
    for (const name of ['member.example', 'six.example']) {
      const printed = await machine.run(...command, name, 'http://10.9.8.7:42720')
      const { asked, failure } = JSON.parse(printed)
      assert.deepEqual(asked, [], name)
      assert.match(failure, /loopback/, name)
    }
    // Where it does belong to, it is sent.
    for (const [name, own] of [
      ['own.example', 'http://10.9.8.7:42720'],
      ['member.example', 'http://localhost:42720'],
    ] as const) {
      const { asked } = JSON.parse(await machine.run(...command, name, own))
      assert.equal(asked.length, 1, name)
    }
  })
})

describe('an address of a socket', () => {
  it('is told to be of this machine only, in every way in which systems spell it', () => {
    const plain = ['127.0.0.1', '127.255.255.254', '0.0.0.0', '::1', '::']
    for (const address of [...plain, '::ffff:127.0.0.1', '::ffff:7f00:1']) {
      assert.equal(isLoopbackAddress(address), true, address)
    }
    for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1%eth0', 'fd00::1', '']) {
      assert.equal(isLoopbackAddress(address), false, address)
    }
  })
})
