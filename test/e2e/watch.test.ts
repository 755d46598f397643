import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { it, type TestContext } from 'node:test'
import { isolatedEnvironment, startDaemonProcess } from '../support/daemon-process.ts'
import { PROGRAM } from '../support/program.ts'
import { Mailbox } from '../support/mailbox.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** `clipgate watch --json` on this link, and the lines that it prints. */
async function startWatch(t: TestContext, link: string) {
  const env = isolatedEnvironment(await temporaryFolder(t))
  const child = spawn(process.execPath, [...PROGRAM, 'watch', '--json'], { env })
  t.after(() => child.kill('SIGKILL'))
  child.stdin.end(`${link}\n`)
  const [stdout, stderr] = [new Mailbox<string>(), new Mailbox<string>()]
  createInterface({ input: child.stdout }).on('line', (line) => stdout.put(line))
  createInterface({ input: child.stderr }).on('line', (line) => stderr.put(line))
  return {
    child,
    change: async () => JSON.parse(await stdout.next()),
    complaint: () => stderr.next(),
    complaints: stderr,
  }
}

it('clipgate watch on a real daemon prints what a phone pushes', async (t) => {
  const daemon = await startDaemonProcess(t, { devices: ['Phone', 'Watch'], args: ['--headless'] })
  const phone = await daemon.phone()
  await phone.pushText('there already')
  const { child, change, complaints } = await startWatch(t, (await daemon.pair('Watch')).link)
  assert.equal((await change()).text, 'there already')
  await phone.pushText('hello')
  const { at, ...document } = await change()
  assert.ok(Date.parse(at) <= Date.now(), at)
  assert.deepEqual(document, await phone.document())
  await phone.pushFile('File', 'a b.bin', Buffer.from('bytes'))
  assert.deepEqual((await change()).dataName, 'a b.bin')
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.equal(complaints.size, 0)
})

it('clipgate watch on a real daemon goes on when the daemon was restarted, with what changed meanwhile', async (t) => {
  const folder = await temporaryFolder(t)
  const options = { args: ['--headless'], folder }
  const first = await startDaemonProcess(t, { devices: ['Phone', 'Watch'], ...options })
  const phone = await first.pair('Phone')
  await createPhone(phone, first.ready.gateway).pushText('before')
  const watched = await startWatch(t, (await first.pair('Watch')).link)
  assert.equal((await watched.change()).text, 'before')
  assert.equal(await first.stop(), 0)
  assert.match(await watched.complaint(), /not connected, trying again/)

  // Where the watch does not look for it.
  const elsewhere = await startDaemonProcess(t, { args: ['--headless'], folder })
  await createPhone(phone, elsewhere.ready.gateway).pushText('meanwhile')
  assert.equal(await elsewhere.stop(), 0)

  const args = ['--headless', '--listen', new URL(first.ready.gateway).host]
  const again = await startDaemonProcess(t, { args, folder })
  assert.equal((await watched.change()).text, 'meanwhile')
  assert.equal(await watched.complaint(), 'Connected again')
  await createPhone(phone, again.ready.gateway).pushText('after')
  assert.equal((await watched.change()).text, 'after')
})
