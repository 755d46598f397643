import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { watch } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { readControlToken } from '../../src/control/control-token.ts'
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts'
import { openEvents, readFrames } from '../support/event-reader.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'

/** What a page sends that was opened with the address of the panel. */
async function enter(daemon: DaemonProcess): Promise<{ readonly authorization: string }> {
  const { stdout } = await daemon.run('panel', '--json')
  return { authorization: `Bearer ${new URL(JSON.parse(stdout).url).hash.slice(1)}` }
}

interface State {
  readonly item: { readonly type: string; readonly dataName: string } | null
  readonly devices: readonly {
    readonly label: string
    readonly lastSeenAt: string | null
    readonly streams: number
  }[]
  readonly status: { readonly storage: { readonly stagedUploads: number } }
}

async function follow(t: TestContext, control: string, headers: { authorization: string }) {
  const outgoing = httpRequest(`${control}/events`, { headers, agent: false }).end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  assert.ok(response !== undefined, 'an answer')
  t.after(() => response.destroy())
  const frames = readFrames(response)
  /** The next state that fits; `undefined` when the stream has ended. */
  const until = async (fits: (state: State) => boolean): Promise<State | undefined> => {
    for await (const frame of { [Symbol.asyncIterator]: () => ({ next: () => frames.next() }) }) {
      if (!('event' in frame)) continue
      const state = frame.data as unknown as State
      if (fits(state)) return state
    }
    return undefined
  }
  return { until }
}

it('the panel of a daemon shows what devices do, as they do it, and says goodbye when the daemon stops', async (t) => {
  const daemon = await startDaemonProcess(t, { args: ['--headless'] })
  const { control, gateway } = daemon.ready
  const { until } = await follow(t, control, await enter(daemon))
  assert.ok(await until(({ devices }) => devices.length === 0), 'nobody yet')

  const device = await daemon.pair('My phone')
  const paired = await until(({ devices }) => devices.length === 1)
  assert.deepEqual([paired?.devices[0]?.label, paired?.devices[0]?.lastSeenAt], ['My phone', null])

  const phone = createPhone(device, gateway)
  await phone.document()
  assert.ok(await until(({ devices }) => devices[0]?.lastSeenAt !== null), 'seen')

  const stream = await openEvents(t, gateway, phone.authorization)
  assert.ok(await until(({ devices }) => devices[0]?.streams === 1), 'a stream')
  stream.close()
  assert.ok(await until(({ devices }) => devices[0]?.streams === 0), 'no stream')

  await phone.fetch('/file/a.bin', { method: 'PUT', body: 'bytes' })
  assert.ok(await until(({ status }) => status.storage.stagedUploads === 1), 'staged')
  await phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
  assert.ok(await until(({ item }) => item?.dataName === 'a.bin'), 'pushed')
  await daemon.run('revoke', device.id)
  assert.ok(await until(({ devices }) => devices.length === 0), 'revoked')

  // Nobody waits for a stream of the panel, which ends properly.
  const ended = until(() => false)
  assert.equal(await daemon.stop(), 0)
  assert.equal(await ended, undefined)
})

it('the panel of a daemon knows nobody any more after the daemon was started again, and removes what led there', async (t) => {
  const folder = await temporaryFolder(t)
  const first = await startDaemonProcess(t, { args: ['--headless'], folder })
  const headers = await enter(first)
  const earlier = await readFile(join(folder, 'data', 'control.token'), 'utf8')
  assert.equal((await fetch(`${first.ready.control}/state`, { headers })).status, 200)
  await first.kill()
  // A file of `clipgate panel`.
  const left = join(folder, 'data', 'open-panel.html')
  await writeFile(left, 'left')
  const second = await startDaemonProcess(t, { args: ['--headless'], folder })
  await assert.rejects(stat(left), { code: 'ENOENT' })
  const commands = { authorization: `Bearer ${earlier.trim()}` }
  for (const old of [headers, commands]) {
    assert.equal((await fetch(`${second.ready.control}/state`, { headers: old })).status, 401)
  }
  const token = headers.authorization.slice('Bearer '.length)
  assert.ok(!`${first.stderr()}${second.stderr()}`.includes(token), 'logged')
})

it('the panel of a daemon opens the folder of what was received', needs('Xvfb'), async (t) => {
  const folder = await temporaryFolder(t)
  const [bin, seen] = [join(folder, 'bin'), join(folder, 'seen')]
  await Promise.all([bin, seen].map((path) => mkdir(path)))
  await writeFile(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > '${seen}/opened'\n`)
  await chmod(join(bin, 'xdg-open'), 0o755)
  const { display } = await Xvfb.start(t)
  const env = { DISPLAY: display, PATH: `${bin}:${process.env['PATH']}` }
  const daemon = await startDaemonProcess(t, { env, args: ['--received-dir', folder] })
  const watcher = watch(seen)
  t.after(() => watcher.close())
  const changes = on(watcher, 'change')
  const headers = await enter(daemon)
  const answer = await fetch(`${daemon.ready.control}/received/open`, { method: 'POST', headers })
  assert.deepEqual(await answer.json(), { opened: true })
  const opened = (): Promise<string> => readFile(join(seen, 'opened'), 'utf8').catch(() => '')
  while ((await opened()) !== folder) await changes.next()
})

it('the panel hears of no change any more once all browsers were signed out, and commands do', async (t) => {
  const daemon = await startDaemonProcess(t, { args: ['--headless'], devices: ['Phone'] })
  const { control } = daemon.ready
  const token = await readControlToken(join(daemon.folder, 'data'))
  const { authorization } = await enter(daemon)
  const open = (as: string) => openEvents(t, `${control}/clipboard`, as)
  const [page, command] = [await open(authorization), await open(`Bearer ${token}`)]
  await Promise.all([page.next(), command.next()])
  const signedOut = await fetch(`${control}/panel`, {
    method: 'DELETE',
    headers: { authorization },
  })
  assert.equal(signedOut.status, 200)
  await (await daemon.phone()).pushText('after that')
  assert.equal(await page.next(), undefined)
  const heard = await command.next()
  assert.equal(heard && 'event' in heard && heard.event, 'update')

  const again = await open((await enter(daemon)).authorization)
  const hello = await again.next()
  assert.equal(hello && 'event' in hello && hello.event, 'hello')
})
