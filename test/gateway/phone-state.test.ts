import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { serveGateway } from '../support/gateway.ts'
import { readObject, type Phone } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'

async function stateOf({ fetch }: Phone) {
  const response = await fetch('/phone/state')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return readObject(response)
}

async function recentOf(phone: Phone): Promise<readonly Record<string, unknown>[]> {
  const { recent } = await stateOf(phone)
  assert.ok(Array.isArray(recent))
  return recent
}

/** What leads to the bytes of a recent item. */
async function ticketFor(phone: Phone, id: unknown): Promise<Response> {
  return phone.fetch(`/phone/tickets?recent=${id}`, { method: 'POST' })
}

describe('what the phone page shows of the computer', () => {
  // Protocol: `recent` has the items that the daemon remembers
  it('names the computer, and says from whom what came', async (t) => {
    const { phone, inbound, clock, device } = await serveGateway(t)
    assert.deepEqual(await stateOf(phone), { name: 'desk', paused: false, recent: [] })
    await phone.pushText(`  first ${'é'.repeat(200)}`)
    const copied = { type: 'Text', text: 'copied', dataName: '', hash: '' } as const
    clock.advance(1000)
    await inbound.apply({ ...copied, origin: { kind: 'clipboard' }, bytes: { kind: 'none' } })
    const { item, recent } = await stateOf(phone)
    assert.deepEqual(item, { activatedAt: clock.now(), from: 'desk' })
    assert.deepEqual(recent, [
      {
        ...{ id: '1', type: 'Text', dataName: '', size: 408, from: device.label },
        ...{ activatedAt: clock.now() - 1000, line: `first ${'é'.repeat(114)}` },
      },
    ])
    const whole = await phone.fetch('/phone/recent/1')
    assert.equal(whole.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(await whole.text(), `  first ${'é'.repeat(200)}`)
  })

  // Protocol: `https`, with TLS, has the base URLs of its certificate
  it('says where the same is served with HTTPS', async (t) => {
    const https = { urls: ['https://desk.local:42722'], needsTrust: true }
    const { phone } = await serveGateway(t, { computer: { https: () => https } })
    assert.deepEqual((await stateOf(phone))['https'], https)
  })

  it('keeps no memory for those who do not read, however many they are', async (t) => {
    const { phone, port, authorization } = await serveGateway(t)
    const long = `${'a'.repeat(7 * MIB)}\u4e2d`
    await phone.pushText(long)
    await phone.pushText('then')
    const [{ id = '' } = {}] = await recentOf(phone)
    const login = `Authorization: ${authorization}`
    const request = [`GET /phone/recent/${id} HTTP/1.1`, 'Host: box', login, '', ''].join('\r\n')
    for (let count = 0; count < 8; count++) {
      const reader = await RawClient.open(t, port)
      const head = await reader.send(request).readUntil('\r\n\r\n')
      assert.equal(head.slice(9, 12), '200')
      reader.socket.pause()
    }
    assert.ok((await (await phone.fetch(`/phone/recent/${id}`)).text()) === long)
  })

  it('gives the bytes of a recent item by a ticket, for as long as it is remembered', async (t) => {
    const { phone, url, computer } = await serveGateway(t)
    await phone.pushFile('File', 'a <b>.txt', Buffer.from('0123456789'))
    await phone.pushText('then')
    const [{ id = '' } = {}] = await recentOf(phone)
    const { path } = await readObject(await ticketFor(phone, id))
    const part = await fetch(`${url}${path}`, { headers: { Range: 'bytes=4-' } })
    assert.equal(await part.text(), '456789')
    assert.match(
      String(part.headers.get('content-disposition')),
      /^attachment; filename="a <b>\.txt"$/,
    )
    assert.equal(part.headers.get('content-security-policy'), "sandbox; default-src 'none'")
    // One for another item is not made of it.
    const other = String(path).replace(`-r${id}`, '-r2')
    assert.equal((await fetch(`${url}${other}`)).status, 404)
    assert.equal((await fetch(`${url}${String(path).replace(`-r${id}`, '')}`)).status, 404)
    assert.ok('forget' in computer.recent && computer.recent.forget instanceof Function)
    computer.recent.forget()
    assert.equal((await fetch(`${url}${path}`)).status, 404)
    assert.equal((await ticketFor(phone, id)).status, 404)
  })

  // Protocol: A device gets none that became current before it was paired
  it('shows a device nothing from before it was paired, also not by a ticket', async (t) => {
    const { phone, clock, addPhone } = await serveGateway(t)
    await phone.pushFile('File', 'a.txt', Buffer.from('secret'))
    await phone.pushText('a secret')
    // It was ahead until now.
    clock.jump(-3_600_000)
    const guest = await addPhone()
    clock.jump(-3_600_000)
    await phone.pushText('the current one')
    assert.equal((await recentOf(phone)).length, 2)
    for (const { id } of await recentOf(phone)) {
      assert.equal((await guest.fetch(`/phone/recent/${id}`)).status, 404)
      assert.equal((await ticketFor(guest, id)).status, 404)
    }
    assert.deepEqual(await recentOf(guest), [])
    await phone.pushText('and one more')
    assert.deepEqual(
      (await recentOf(guest)).map(({ line }) => line),
      ['the current one'],
    )
  })

  it('is for devices only, and for none where nobody wants it', async (t) => {
    const { url, phone } = await serveGateway(t, { computer: { showsRecent: false } })
    await phone.pushText('first')
    await phone.pushText('second')
    assert.deepEqual(await recentOf(phone), [])
    assert.equal((await phone.fetch('/phone/recent/1')).status, 404)
    for (const path of ['/phone/state', '/phone/recent/1']) {
      assert.equal((await fetch(url + path)).status, 401)
    }
    const off = await serveGateway(t, { phonePage: false })
    assert.equal((await off.phone.fetch('/phone/state')).status, 404)
  })
})
