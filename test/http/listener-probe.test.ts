import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { ListenerProbe } from '../../src/http/listener-probe.ts'

describe('the look at a listening socket', () => {
  it('takes it for well when a busy program meets the connection late', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    let losses = 0
    const onLost = (): void => {
      losses += 1
    }
    const probe = new ListenerProbe({ host: '127.0.0.1', intervalMs: 20, onLost })
    t.after(() => probe.stop())
    probe.start(port)
    for (let looks = 0; looks < 5; looks += 1) {
      const [socket] = (await once(server, 'connection')) as [Socket]
      socket.on('error', () => undefined)
      // The other end of the connection is as far as it gets by itself.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      assert.equal(probe.meets(socket), true, `look ${looks}`)
      socket.destroy()
    }
    assert.equal(losses, 0)
  })
})
