import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { type Machine, makeMachine, needsMachines, plug } from '../support/machines.ts'

/** Reads on until this has come. */
async function readUntil(stream: Readable | null, mark: string, read: () => string): Promise<void> {
  assert.ok(stream !== null)
  while (!read().includes(mark)) await once(stream, 'data')
}

/** An event stream as curl shows it, on a machine. */
function openStream(t: TestContext, { inside }: Machine, ...args: readonly string[]) {
  const [program = '', ...before] = inside
  const child = spawn(program, [...before, 'curl', '-sSN', ...args], {
    stdio: ['ignore', 'pipe', 2],
  })
  t.after(() => child.kill())
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part))
  return { until: (mark: string) => readUntil(child.stdout, mark, () => text) }
}

describe('a daemon with TLS on a machine whose addresses change', () => {
  it(
    'is trusted by name and at the new address, and cuts no stream',
    needsMachines(),
    async (t) => {
      const desk = await makeMachine(t, 'desk')
      const phone = await makeMachine(t, 'phone')
      await plug('home', [desk, '192.168.7.2/24'], [phone, '192.168.7.3/24'])
      await plug('cable', [desk, '10.213.9.1/24'], [phone, '10.213.9.2/24'])
      const listen = ['--listen', '0.0.0.0:42720', '--tls-listen', '0.0.0.0:42722']
      const args = ['--headless', '--tls', 'local', ...listen]
      const daemon = await startDaemonProcess(t, { args, wrapper: desk.inside })
      const { username, password } = await daemon.pair('Phone')
      const trusting = ['--cacert', join(daemon.folder, 'data', 'tls-authority.pem')]
      const as = [...trusting, '-u', `${username}:${password}`]
      const name = `${hostname().toLowerCase().split('.')[0]}.local`
      const isWell = async (address: string, host = address): Promise<void> => {
        const led = ['--resolve', `${host}:42722:${address}`]
        const url = `https://${host}:42722/healthz`
        const status = await phone.curl(...trusting, ...led, '-w', '%{http_code}', url)
        assert.equal(status, '204', host)
      }
      await isWell('192.168.7.2')
      await isWell('192.168.7.2', name)
      await assert.rejects(isWell('192.168.7.2', 'other.local'), /certificate|SSL/)

      const stream = openStream(t, phone, ...as, 'https://10.213.9.1:42722/api/sse/clipboard')
      await stream.until('event: hello')
      await desk.ip('address', 'del', '192.168.7.2/24', 'dev', 'home')
      await desk.ip('address', 'add', '192.168.7.9/24', 'dev', 'home')
      await readUntil(daemon.child.stderr, 'certificate is another one', daemon.log)
      await isWell('192.168.7.9')
      await isWell('192.168.7.9', name)

      const text = JSON.stringify({ type: 'Text', text: 'after' })
      const url = 'https://192.168.7.9:42722/Sync.json'
      await phone.curl(...as, '--fail', '--data-binary', text, '-X', 'PUT', url)
      await stream.until('event: update')
    },
  )
})
