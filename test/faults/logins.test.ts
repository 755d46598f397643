import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'

describe('a flood of wrong passwords', () => {
  it('is refused, keeps nobody waiting who is known, and locks nobody out', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ['--headless'] })
    const [device, other] = [await daemon.pair('Phone'), await daemon.pair('Other')]
    const phone = createPhone(device, daemon.ready.gateway)
    await phone.pushText('hello')

    let answered = 0
    const flood = Array.from({ length: 100 }, async (_, number) => {
      const guess = createPhone({ ...device, password: `wrong ${number}` }, daemon.ready.gateway)
      const { status } = await guess.fetch('/Sync.json')
      answered++
      return status
    })
    // More than can be answered by then: each takes a run of Argon2id.
    for (let round = 0; round < 20; round++) {
      assert.equal((await phone.document())['text'], 'hello')
      assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204)
      assert.equal((await fetch(`${daemon.ready.gateway}/Sync.json`)).status, 401)
    }
    assert.ok(answered < flood.length)
    const statuses = new Set(await Promise.all(flood))
    assert.deepEqual([...statuses].sort(), [401, 503])
    // Not from memory: this one has never been here.
    assert.equal((await createPhone(other, daemon.ready.gateway).fetch('/')).status, 200)
    assert.equal(daemon.stderr(), '')
  })
})
