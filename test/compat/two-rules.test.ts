import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startDaemonProcess, type DaemonProcess } from '../support/daemon-process.ts'
import { sha256 } from '../support/hashes.ts'
import { createPhone, readObject, type Phone } from '../support/phone.ts'

const OKHTTP = { 'User-Agent': 'okhttp/4.12.0' }

/** A kind of phone: how it hashes an image is all that tells it from another. */
type Rule = (name: string, bytes: Uint8Array) => string

const ofBytes: Rule = (_, bytes) => sha256(bytes)

const boundToName: Rule = (name, bytes) =>
  sha256(`${name}|${sha256(bytes).toUpperCase()}`).toUpperCase()

/** Pushes an image as a client of the reference document does, and reads its own hash back. */
async function push(phone: Phone, rule: Rule, name: string, bytes: Buffer): Promise<void> {
  const hash = rule(name, bytes)
  const upload = { method: 'PUT', body: bytes, headers: { ...OKHTTP, 'Content-Type': 'image/png' } }
  assert.equal((await phone.fetch(`/file/${name}`, upload)).status, 200)
  const body = JSON.stringify({ type: 'Image', dataName: name, text: name, hasData: true, hash })
  const document = { method: 'PUT', body, headers: OKHTTP }
  assert.equal((await phone.fetch('/SyncClipboard.json', document)).status, 200)
  assert.equal((await read(phone))['hash'], hash)
}

/** The same, but what the server has is not sent. @returns Whether the bytes were. */
async function pushIfMissing(phone: Phone, name: string, bytes: Buffer): Promise<boolean> {
  const record = `/api/history/Image-${ofBytes(name, bytes)}`
  const { status } = await phone.fetch(record, { headers: OKHTTP })
  if (status === 404) await push(phone, ofBytes, name, bytes)
  return status === 404
}

/** Takes the current image, and believes it only if its hash is right. */
async function take(phone: Phone, rule: Rule, wanted: Buffer): Promise<void> {
  const { dataName, hash } = await read(phone)
  const response = await phone.fetch(`/file/${String(dataName)}`, { headers: OKHTTP })
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.deepEqual(bytes, wanted)
  assert.equal(rule(String(dataName), bytes), hash)
}

async function read(phone: Phone): Promise<Record<string, unknown>> {
  return readObject(await phone.fetch('/SyncClipboard.json', { headers: OKHTTP }))
}

it('phones with two rules of hashes exchange images both ways, over a restart', async (t) => {
  const args = ['--clipboard', 'none']
  const early = ['of bytes', 'bound to names']
  const first = await startDaemonProcess(t, { args, devices: early })
  const devices = [await first.pair('of bytes'), await first.pair('bound to names')] as const
  const phonesOf = ({ ready }: DaemonProcess): readonly [Phone, Phone] => [
    createPhone(devices[0], ready.gateway),
    createPhone(devices[1], ready.gateway),
  ]
  const [red, green, blue] = ['red', 'green', 'blue'].map((text) => Buffer.from(text.repeat(999)))
  assert.ok(red && green && blue)

  const [one, other] = phonesOf(first)
  await push(one, ofBytes, 'image.png', red)
  await take(other, boundToName, red)
  await push(other, boundToName, 'shot.png', green)
  await take(one, ofBytes, green)
  await first.stop()

  const second = await startDaemonProcess(t, { args, folder: first.folder })
  const [oneAgain, otherAgain] = phonesOf(second)
  await take(oneAgain, ofBytes, green)
  await take(otherAgain, boundToName, green)
  await push(oneAgain, ofBytes, 'image.png', blue)
  await take(otherAgain, boundToName, blue)
})

it('a phone that asks before it sends is not told, after a restart, that its first photo is there', async (t) => {
  const args = ['--clipboard', 'none']
  const first = await startDaemonProcess(t, { args, devices: ['asks first'] })
  const device = await first.pair('asks first')
  const [red = Buffer.of(), green = Buffer.of()] = ['red', 'green'].map((text) => Buffer.from(text))
  const phone = createPhone(device, first.ready.gateway)
  await push(phone, ofBytes, 'image.png', red)
  assert.equal(await pushIfMissing(phone, 'image.png', red), false)
  await first.stop()

  const second = await startDaemonProcess(t, { args, folder: first.folder })
  const again = createPhone(device, second.ready.gateway)
  assert.equal(await pushIfMissing(again, 'image.png', red), false)
  assert.equal(await pushIfMissing(again, 'image.png', green), true)
  await take(again, ofBytes, green)
})
