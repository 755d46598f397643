/**
 * A day in the life of a daemon, its phones and its owner, in which everything that can be a secret
 * is one.
 * @module
 */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatConnectLink } from '../../../src/link/connect-link.ts'
import type { PairedDevice, ReadyEvent } from '../../support/daemon-process.ts'
import { createPhone, type Phone } from '../../support/phone.ts'
import type { Enclosure } from './enclosure.ts'
import type { Place } from './places.ts'
import { secret, secretWord } from './secrets.ts'

const FILE_NAME = `${secret('file name')}.bin`

/** Where the secrets of this day belong. */
export const PLACES: readonly Place[] = [
  { path: /^data\/devices\.json$/, holds: ['label', 'user name', 'user agent'] },
  { path: /^data\/sightings\.json$/, holds: ['user agent'] },
  // What is on the clipboard is kept there, on purpose.
  { path: /^data\/item\.json$/, holds: ['text', 'long text', 'file name', 'form file name'] },
  {
    path: /^data\/blobs\/[0-9a-f]{32}$/,
    holds: ['long text', 'file content', 'form file content'],
  },
  { path: /^data\/staging\/[0-9a-f]{32}\.json$/, holds: ['file name'] },
  { path: /^data\/control\.token$/, holds: ['control token'] },
  // What `--save` keeps: not the link.
  { path: /^config\/clipgate\/server\.json$/, holds: ['password', 'user name'] },
  {
    path: /^work\/.+\.(?:bin|part)$/,
    holds: ['file content'],
    isNamedAfter: ['file name'],
    isOfUser: true,
  },
]

/** What `pair` prints, once: all that connects the device. */
const PAIRING_SHOWN = ['password', 'minted password', 'link', 'label', 'user name']

interface Scene {
  readonly enclosure: Enclosure
  readonly ready: ReadyEvent
  readonly device: PairedDevice
  readonly phone: Phone
}

/** Plays the whole day. What leaks is in `enclosure.leaks`. */
export async function playDay(enclosure: Enclosure): Promise<void> {
  const device = await pairAtRest(enclosure)
  const { daemon, ready } = await enclosure.serve()
  const phone = createPhone(device, ready.gateway)
  const scene = { enclosure, ready, device, phone }

  await pushFromPhone(scene)
  await pushForms(scene)
  await useCommands(scene)
  await followAndManage(scene)
  await openPanel(scene)

  await enclosure.stop(daemon)
  await enclosure.look('at the end')
}

/** Before any daemon runs, with a password of one's own. */
async function pairAtRest(enclosure: Enclosure): Promise<PairedDevice> {
  const names = ['--label', secret('label'), '--username', secretWord('user name')]
  const { code, stdout, stderr } = await enclosure.run(
    ['pair', '--json', '--password-stdin', '--url', 'http://127.0.0.1:1', ...names],
    {
      stdin: `${secret('password')}\n`,
      // Whoever starts it says how to call the device.
      shows: { argv: ['label', 'user name'], stdout: PAIRING_SHOWN },
    },
  )
  assert.equal(code, 0, stderr)
  const device: PairedDevice = JSON.parse(stdout)
  assert.equal(device.password, secret('password'))
  await enclosure.look('after pairing')
  return device
}

async function pushFromPhone({ enclosure, phone, ready, device }: Scene): Promise<void> {
  await phone.pushText(secret('text'))
  await enclosure.look('after a text')
  const path = `/file/${encodeURIComponent(FILE_NAME)}`
  await phone.fetch(path, { method: 'PUT', body: secret('file content') })
  await enclosure.look('after an upload')
  await phone.pushFile('File', FILE_NAME, Buffer.from(secret('file content').repeat(50_000)))
  await enclosure.look('after a file')
  await phone.fetch(path, { headers: { range: 'bytes=5-50' } })
  // A phone that calls itself something, and one whose password is an old one.
  const named = { 'user-agent': secretWord('user agent') }
  assert.equal((await phone.fetch('/api/version', { headers: named })).status, 200)
  const stranger = createPhone({ ...device, password: secret('wrong password') }, ready.gateway)
  for (const _ of [1, 2]) assert.equal((await stranger.fetch('/Sync.json')).status, 401)
}

async function pushForms({ enclosure, phone }: Scene): Promise<void> {
  const form = new FormData()
  form.set('type', 'File')
  form.set('hash', 'ABCD')
  form.set('text', secret('form file name'))
  form.set('data', new Blob([secret('form file content')]), `${secret('form file name')}.txt`)
  assert.equal((await phone.fetch('/api/history', { method: 'POST', body: form })).status, 200)
  await enclosure.look('after a form')
  const query = new URLSearchParams({ searchText: secret('request body') })
  await phone.fetch('/api/history/query', { method: 'POST', body: query })
  // A text that is too long for its document comes as a file.
  const long = secret('long text').repeat(10_000)
  await phone.fetch('/file/long.txt', { method: 'PUT', body: long })
  const document = { type: 'Text', text: secret('long text'), hasData: true, dataName: 'long.txt' }
  const body = JSON.stringify(document)
  assert.equal((await phone.fetch('/Sync.json', { method: 'PUT', body })).status, 200)
  await enclosure.look('after a long text')
}

/** The protocol from a shell: the link on stdin, in a file, and saved. */
async function useCommands({ enclosure, ready, device }: Scene): Promise<void> {
  const { username: user, password: pwd } = device
  const o = { label: secret('label') }
  const stdin = `${formatConnectLink({ url: ready.gateway, user, pwd, o })}\n`
  const given = join(enclosure.given, 'link.txt')
  await writeFile(given, stdin)
  const shown = ['label', 'user name']
  const decoded = await enclosure.run(['link', 'decode'], { stdin, shows: { stdout: shown } })
  assert.equal(decoded.code, 0, decoded.stderr)
  const pushed = await enclosure.run(['push', '--save'], { stdin: `${stdin}${secret('text')}` })
  assert.equal(pushed.code, 0, pushed.stderr)
  await enclosure.look('after --save')
  const text = { shows: { stdout: ['text'] } }
  for (const args of [['pull'], ['pull', '--json'], ['pull', '--link-file', given]]) {
    assert.equal((await enclosure.run(args, text)).code, 0)
  }
  await writeFile(join(enclosure.folder, 'work', FILE_NAME), secret('file content'))
  const named = { shows: { argv: ['file name'], stdout: ['file name'] } }
  assert.equal((await enclosure.run(['push', FILE_NAME], named)).code, 0)
  assert.equal((await enclosure.run(['pull'], named)).code, 0)
  await enclosure.look('after commands')
}

async function followAndManage({ enclosure, phone, device }: Scene): Promise<void> {
  const watch = await enclosure.start(['watch'], { shows: { stdout: ['file name', 'text'] } })
  await watch.printed(/File/)
  await phone.pushText(secret('text'))
  await watch.printed(/Text/)
  watch.child.kill('SIGINT')
  assert.equal((await enclosure.end(watch)).code, 0)

  const shows = { stdout: PAIRING_SHOWN }
  const paired = await enclosure.run(['pair', '--json'], { shows })
  const minted: PairedDevice = JSON.parse(paired.stdout)
  enclosure.search.learn('minted password', minted.password)
  enclosure.search.learn('link', minted.link.slice(-60))
  await enclosure.run(['rotate', minted.id], { shows })
  for (const args of [['devices'], ['devices', '--json'], ['status'], ['status', '--json']]) {
    const listed = { stdout: args[0] === 'devices' ? ['label', 'user name', 'user agent'] : [] }
    assert.equal((await enclosure.run(args, { shows: listed })).code, 0)
  }
  await enclosure.look('after administration')
  const revoked = await enclosure.run(['revoke', device.id], { shows: { stdout: ['label'] } })
  assert.equal(revoked.code, 0)
  assert.equal((await enclosure.run(['pull'])).code, 1)
}

/** As a page does: with the token of its address, also when that is worth nothing any more. */
async function openPanel({ enclosure, ready }: Scene): Promise<void> {
  const { stdout } = await enclosure.run(['panel', '--print'])
  const token = new URL(stdout.trim()).hash.slice(1)
  enclosure.search.learn('panel token', token)
  const headers = { authorization: `Bearer ${token}` }
  for (const path of ['/', '/state', '/item/preview', '/none']) {
    await fetch(ready.control + path, { headers })
  }
  await enclosure.look('with the panel open')
  const ended = await fetch(`${ready.control}/panel`, { method: 'DELETE', headers })
  assert.equal(ended.status, 200)
  assert.equal((await fetch(`${ready.control}/state`, { headers })).status, 401)
}
