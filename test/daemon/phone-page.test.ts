import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'

describe('--phone-page', () => {
  const rows = [
    { args: [], status: 200 },
    { args: ['--phone-page', 'on'], status: 200 },
    { args: ['--phone-page', 'off'], status: 404 },
  ]
  for (const { args, status } of rows) {
    it(`${args.join(' ') || 'by default'} answers ${status} to browsers`, async (t) => {
      const { ready } = await startDaemonProcess(t, { args: ['--clipboard', 'none', ...args] })
      assert.equal((await fetch(`${ready.gateway}/phone`)).status, status)
      const bare = await fetch(ready.gateway, { headers: { Accept: 'text/html' } })
      assert.equal(bare.status, 401)
      assert.equal((await bare.text()).includes('href="phone"'), status === 200)
    })
  }
})
