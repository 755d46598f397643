import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { codeOf } from '../../src/lib/system-error.ts'
import { needsTracing } from '../faults/support/trace.ts'
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts'

// What the C library asks the kernel by, and nothing else that a daemon does while it starts.
const DENY = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=sendto:error=EACCES']

async function startDenied(t: TestContext): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(t, { wrapper: DENY, args: ['--clipboard', 'none'] })
  // The child is strace, which a daemon outlives when it is killed.
  t.after(() => signal(daemon, 'SIGKILL'))
  return daemon
}

function signal({ ready }: DaemonProcess, name: NodeJS.Signals): void {
  try {
    process.kill(ready.pid, name)
  } catch (error) {
    assert.equal(codeOf(error), 'ESRCH', 'only one that has ended cannot be told')
  }
}

describe('a system that does not tell its addresses, as Android', needsTracing, () => {
  it('has a daemon all the same, which warns of its links', async (t) => {
    const daemon = await startDenied(t)
    while (!daemon.stderr().includes('set --public-url')) {
      if (daemon.child.stderr !== null) await once(daemon.child.stderr, 'data')
    }
    const phone = await daemon.phone()
    await phone.pushText('hello')
    assert.equal((await phone.document())['text'], 'hello')
  })

  it('has commands that work without a daemon', async (t) => {
    const daemon = await startDenied(t)
    const closed = once(daemon.child, 'close')
    signal(daemon, 'SIGTERM')
    await closed
    const { url } = await daemon.pair('Phone')
    assert.match(url, /^http:\/\/127\.0\.0\.1:/)
  })
})
