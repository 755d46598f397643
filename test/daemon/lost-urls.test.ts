import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findLostUrls } from '../../src/daemon/addresses.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'

const LOST = 'http://10.254.253.252:42720'

describe('findLostUrls()', () => {
  it('names private addresses of others, each once, and judges nothing else', () => {
    const ours = [{ address: '192.168.1.20', internal: false, cidr: null }]
    const found = findLostUrls(
      [
        ...['http://192.168.1.20:1', 'http://192.168.1.21:1', 'http://192.168.1.21:1'],
        ...['https://desk.local', 'http://203.0.113.9', 'http://a b', 'http://[fd00::1]:42720/x'],
      ],
      { eth0: ours },
    )
    assert.deepEqual(found, ['http://192.168.1.21:1', 'http://[fd00::1]:42720/x'])
  })
})

describe('a device whose link names an address that this machine does not have', () => {
  it('is told of by status and doctor, until it has a new link, also without a daemon', async (t) => {
    const args = ['--clipboard', 'none']
    const daemon = await startDaemonProcess(t, { args })
    const json = async (...command: readonly string[]) =>
      JSON.parse((await daemon.run(...command, '--json')).stdout)
    const { id } = await json('pair', '--url', LOST)
    assert.deepEqual((await json('status')).lostUrls, [LOST])
    assert.match(
      (await daemon.run('status')).stdout,
      /^Links +this machine is not http:[^ ]+ any more; new codes: clipgate rotate ID$/m,
    )
    await daemon.stop()
    await assert.rejects(daemon.run('status', '--json'), ({ code, stdout }) => {
      assert.deepEqual([code, JSON.parse(stdout).lostUrls], [3, [LOST]])
      return true
    })
    const again = await startDaemonProcess(t, { args, folder: daemon.folder })
    assert.deepEqual((await json('status')).lostUrls, [LOST])
    await again.run('rotate', id)
    assert.deepEqual((await json('status')).lostUrls, [])
  })
})
