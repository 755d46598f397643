import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { daemonCommand, startDaemonProcess } from '../support/daemon-process.ts'
import { makeMachine, plug } from '../support/machines.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { digTunnel, needsWireGuard } from './support/wireguard.ts'

/** Also one of RFC 6598, where Tailscale gives its addresses. */
const NODE = ['10.213.9.1', '100.101.9.1']
const PHONE = ['10.213.9.2', '100.101.9.2']

const CABLE = { node: '10.213.30.1', phone: '10.213.30.2' }

describe('a node that listens in a WireGuard tunnel, as docs/guides/server.md sets it up', () => {
  it('serves a phone through the tunnel, and nobody outside of it', needsWireGuard, async (t) => {
    const [server, phone] = [await makeMachine(t, 'node'), await makeMachine(t, 'phone')]
    await plug('lan0', [server, `${CABLE.node}/24`], [phone, `${CABLE.phone}/24`])
    const received = await digTunnel(
      t,
      { machine: server, endpoint: CABLE.node, addresses: NODE },
      { machine: phone, endpoint: CABLE.phone, addresses: PHONE },
    )
    const listen = NODE.map((host) => `${host}:42720`).join()
    const node = await startDaemonProcess(t, {
      env: { CLIPGATE_LISTEN: listen },
      wrapper: server.inside,
      args: ['--headless', '--heartbeat', '1s'],
    })
    const device = await node.pair('Phone')
    assert.equal(device.url, `http://${NODE[0]}:42720`, 'links name the tunnel')

    const { authorization } = createPhone(device, device.url)
    const curl = (url: string, ...args: string[]): Promise<string> =>
      phone.curl('--fail', '--header', `authorization: ${authorization}`, ...args, url)
    const folder = await temporaryFolder(t)
    const photo = join(folder, 'photo')
    await writeFile(photo, randomBytes(1_000_000))
    const before = await received()
    await curl(`${device.url}/file/photo.bin`, '--upload-file', photo)
    const document = join(folder, 'document')
    await writeFile(document, '{"type":"File","dataName":"photo.bin","hasData":true}')
    await curl(`${device.url}/Sync.json`, '--upload-file', document)
    assert.ok((await received()) - before > 1_000_000, 'it came through the tunnel')
    for (const host of NODE) {
      const { dataName } = JSON.parse(await curl(`http://${host}:42720/Sync.json`))
      assert.equal(dataName, 'photo.bin', `${host} is near enough`)
    }
    await assert.rejects(phone.curl(`http://${CABLE.node}:42720/healthz`), { code: 7 })

    const link = join(folder, 'link')
    await writeFile(link, (await node.pair('Doctor')).link)
    const { run } = daemonCommand(folder, { wrapper: phone.inside })
    const { stdout } = await run('doctor', '--json', '--link-file', link)
    const findings: readonly Record<string, unknown>[] = JSON.parse(stdout)
    assert.deepEqual(
      findings.filter(({ ok }) => ok !== true),
      [],
    )
    const here = await node.run('doctor', '--json', '--listen', listen, '--headless')
    const checks: readonly Record<string, unknown>[] = JSON.parse(here.stdout)
    const addresses = checks.find(({ check }) => check === 'addresses')
    assert.match(String(addresses?.['detail']), new RegExp(`^links name ${device.url};`))
    const other = `http://${NODE[1]}:42720`
    assert.equal(addresses?.['fix'], `for phones in another network: clipgate pair --url ${other}`)
  })
})
