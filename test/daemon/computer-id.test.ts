import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone, readObject } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Protocol: with the first half of `id` is the second
it('a daemon proves to phones which it is, after each start, and tells nobody else', async (t) => {
  const folder = await temporaryFolder(t)
  const start = () => startDaemonProcess(t, { folder, args: ['--headless'] })
  const first = await start()
  const device = await first.pair('Phone')

  async function readId({ ready }: typeof first): Promise<string> {
    const { id } = await readObject(await createPhone(device, ready.gateway).fetch('/phone/state'))
    assert.match(String(id), /^[\w-]{44}$/)
    return String(id)
  }

  const id = await readId(first)
  const [half, rest] = [id.slice(0, 22), id.slice(22)]
  const ask = (name: string) => fetch(`${first.ready.gateway}/phone/trust/${name}`)
  assert.equal(await (await ask(half)).text(), rest)
  for (const other of [rest, id, half.slice(1), `${half}A`, half.toLowerCase(), 'computer.id']) {
    assert.equal((await ask(other)).status, 404, other)
  }
  await first.stop()

  const second = await start()
  assert.equal(await readId(second), id)
  assert.equal(second.stderr(), '')
  await second.stop()

  await writeFile(join(folder, 'data', 'computer.id'), 'damaged')
  const third = await start()
  assert.notEqual(await readId(third), id)
  assert.match(third.stderr(), /Cannot read computer\.id; it is made again/)
})
