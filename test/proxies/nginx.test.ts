import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { proxySuite } from './proxy-suite.ts'
import { prepareNginx, startNginx } from './support/nginx.ts'
import { startOnFreePorts } from './support/proxy-process.ts'

const TOOLS = needs('nginx', 'openssl', 'curl')

describe('nginx, as deploy/nginx/clipgate.conf sets it up', TOOLS, () => {
  proxySuite(startNginx)
})

describe('nginx that does not pass Upgrade', needs('nginx'), () => {
  it('leaves clients of the hub to poll, and tells them so at once', async (t) => {
    const daemon = await startDaemonProcess(t, { args: ['--headless'] })
    const url = await startNaively(t, new URL(daemon.ready.gateway).host)
    const phone = createPhone(await daemon.pair('Phone'), url)
    const { authorization } = phone
    const hub = new HubConnectionBuilder()
      .withUrl(`${url}/SyncClipboardHub`, { headers: { authorization } })
      .configureLogging(LogLevel.None)
      .build()
    t.after(() => hub.stop())
    await assert.rejects(hub.start(), /WebSocket/)

    await phone.pushText('polled')
    const { headers } = await phone.fetch('/SyncClipboard.json')
    const known = { headers: { 'if-none-match': headers.get('etag') ?? '' } }
    assert.equal((await phone.fetch('/SyncClipboard.json', known)).status, 304)
    await phone.pushText('polled again')
    assert.equal((await phone.fetch('/SyncClipboard.json', known)).status, 200)
    assert.equal(daemon.stderr(), '')
  })
})

/** Starts a proxy that knows nothing but where the gateway is. @returns Its URL. */
async function startNaively(t: TestContext, upstream: string): Promise<string> {
  const folder = await temporaryFolder(t)
  const { ports } = await startOnFreePorts(t, 1, ([port = 0]) =>
    prepareNginx(
      folder,
      `server { listen 127.0.0.1:${port}; location / { proxy_pass http://${upstream}; proxy_cache off; } }`,
    ),
  )
  return `http://127.0.0.1:${ports[0]}`
}
