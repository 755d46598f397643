import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createControlToken, readControlToken } from '../../src/control/control-token.ts'
import { JsonDeviceRegistry } from '../../src/devices/json-device-registry.ts'
import { parseConnectLink } from '../../src/link/connect-link.ts'
import type { PairRequest } from '../../src/ports/admin.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { createFakeAdmin, type FakeAdmin } from '../support/fake-admin.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeHasher } from '../support/fake-hasher.ts'
import { Mailbox } from '../support/mailbox.ts'
import { openTestDevices } from '../support/test-devices.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openControl, OWNER } from './support/open-control.ts'
import { NEW_PHONE } from '../support/owner.ts'

describe('the token of the control listener', () => {
  it('is new at each start, and in a private file', async (t) => {
    const folder = await temporaryFolder(t)
    const first = await createControlToken(folder)
    const second = await createControlToken(folder)
    assert.match(second, /^[\w-]{43}$/)
    assert.notEqual(first, second)
    assert.equal(await readControlToken(folder), second)
    const [name = ''] = await readdir(folder)
    assert.equal(name, 'control.token')
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  })
})

describe('a password that nobody waits for any more', () => {
  it('is given to no device: none is paired, and none rotated', async (t) => {
    const path = join(await temporaryFolder(t), 'devices.json')
    const hashing = new Mailbox<() => void>()
    const hasher = {
      hashPassword: async (password: string) => {
        await new Promise<void>((resolve) => hashing.put(resolve))
        return new FakeHasher().hashPassword(password)
      },
    }
    const deps = { hasher, clock: new FakeClock(), logger: new CaptureLogger() }
    const devices = await JsonDeviceRegistry.open({ path, ...deps })
    const paired = devices.add({ kind: 'phone' })
    ;(await hashing.next())()
    const { device } = await paired
    const before = [await readFile(path, 'utf8'), devices.revision]

    const admin = await createFakeAdmin({}, true, devices)
    const outcomes: Promise<unknown>[] = []
    const left = new Mailbox<string>()
    const watch = (made: Promise<unknown>, signal: AbortSignal | undefined): void => {
      outcomes.push(made.catch(({ name }: Error) => name))
      signal?.addEventListener('abort', () => left.put('left'))
    }
    const watched: FakeAdmin = {
      ...admin,
      pair: (request, signal) => {
        const made = admin.pair(request, signal)
        watch(made, signal)
        return made
      },
      rotate: (id, url, signal) => {
        const made = admin.rotate(id, url, signal)
        watch(made, signal)
        return made
      },
    }
    const { url, logger } = await openControl(t, { admin: watched })
    const headers = { ...OWNER, 'Content-Type': 'application/json' }
    for (const [asked, body] of [
      ['/devices', JSON.stringify({ kind: 'phone' })],
      [`/devices/${device.id}/rotate`, '{}'],
    ] as const) {
      const outgoing = request(new URL(asked, url), { method: 'POST', headers, agent: false })
      outgoing.on('error', () => undefined).end(body)
      const goOn = await hashing.next()
      outgoing.destroy()
      await left.next()
      goOn()
    }
    assert.deepEqual(await Promise.all(outcomes), ['AbortError', 'AbortError'])
    assert.deepEqual([await readFile(path, 'utf8'), devices.revision], before)
    assert.deepEqual(logger.lines, [])
    await devices.close()
  })

  it('leaves no device, where it was paired by the time that its asker had gone', async () => {
    const registry = await openTestDevices()
    const asker = new AbortController()
    const { add } = registry
    registry.add = async (wanted) => {
      const minted = await add.call(registry, wanted)
      asker.abort()
      return minted
    }
    const admin = await createFakeAdmin({}, true, registry)
    await assert.rejects(admin.pair(NEW_PHONE, asker.signal), { name: 'AbortError' })
    assert.deepEqual(registry.list(), [])
  })
})

describe('pairing', () => {
  it('leaves metadata out of a link that would get too long, the label first', async () => {
    const admin = await createFakeAdmin()
    const seen = new Set<string>()
    for (let padding = 0; padding < 600; padding++) {
      const url = `http://h.example/${'x'.repeat(padding)}`
      const wanted = { ...NEW_PHONE, username: 'my_phone', label: '📱'.repeat(20), url }
      const link = await admin.pair(wanted).then(
        (made) => made.link,
        (error) => assert.equal(error.code, 'LINK_TOO_LONG'),
      )
      if (link !== undefined) await admin.registry.revoke('my_phone')
      const kept = link === undefined ? 'none' : Object.keys(parseConnectLink(link).o ?? {}).join()
      assert.ok((link ?? '').length <= 800)
      seen.add(kept)
    }
    assert.deepEqual([...seen], ['did,label,proto', 'did,proto', 'proto', '', 'none'])
  })

  it('pairs nothing when there could be no link', async () => {
    const admin = await createFakeAdmin()
    const impossible: readonly Partial<PairRequest>[] = [
      { url: `http://h.example/${'x'.repeat(800)}` },
      { password: '🔑'.repeat(256) },
    ]
    for (const request of impossible) {
      await assert.rejects(admin.pair({ ...NEW_PHONE, ...request }), { code: 'LINK_TOO_LONG' })
    }
    assert.deepEqual(await admin.devices(), [])
  })

  it('rotates nothing when there could be no link', async () => {
    const admin = await createFakeAdmin({ url: `http://h.example/${'x'.repeat(800)}` })
    const { device } = await admin.registry.add({ kind: 'phone' })
    await assert.rejects(admin.rotate(device.id), { code: 'LINK_TOO_LONG' })
    assert.equal(admin.registry.find(device.id)?.passwordHash, device.passwordHash)
  })

  it('still says which name is wrong', async () => {
    const admin = await createFakeAdmin()
    for (const [wanted, code] of [
      [{ username: '!' }, 'USERNAME_INVALID'],
      [{ password: '' }, 'PASSWORD_INVALID'],
    ] as const) {
      await assert.rejects(admin.pair({ ...NEW_PHONE, ...wanted }), { code })
    }
  })
})
