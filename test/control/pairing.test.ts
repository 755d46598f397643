import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createControlToken, readControlToken } from '../../src/control/control-token.ts'
import { parseConnectLink } from '../../src/link/connect-link.ts'
import type { PairRequest } from '../../src/ports/admin.ts'
import { createFakeAdmin, PHONE } from '../support/fake-admin.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

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

describe('pairing', () => {
  it('leaves metadata out of a link that would get too long, the label first', async () => {
    const seen = new Set<string>()
    for (let padding = 0; padding < 600; padding++) {
      const url = `http://h.example/${'x'.repeat(padding)}`
      const wanted = { ...PHONE, username: 'my_phone', label: '📱'.repeat(20), url }
      const link = await createFakeAdmin()
        .pair(wanted)
        .then(
          (made) => made.link,
          (error) => assert.equal(error.code, 'LINK_TOO_LONG'),
        )
      const kept = link === undefined ? 'none' : Object.keys(parseConnectLink(link).o ?? {}).join()
      assert.ok((link ?? '').length <= 800)
      seen.add(kept)
    }
    assert.deepEqual([...seen], ['did,label,proto', 'did,proto', 'proto', '', 'none'])
  })

  it('pairs nothing when there could be no link', async () => {
    const admin = createFakeAdmin()
    const impossible: readonly Partial<PairRequest>[] = [
      { url: `http://h.example/${'x'.repeat(800)}` },
      { password: '🔑'.repeat(256) },
    ]
    for (const request of impossible) {
      await assert.rejects(admin.pair({ ...PHONE, ...request }), { code: 'LINK_TOO_LONG' })
    }
    assert.deepEqual(await admin.devices(), [])
  })

  it('rotates nothing when there could be no link', async () => {
    const admin = createFakeAdmin({ url: `http://h.example/${'x'.repeat(800)}` })
    const { device } = await admin.registry.add({ kind: 'phone' })
    await assert.rejects(admin.rotate(device.id), { code: 'LINK_TOO_LONG' })
    assert.equal(admin.registry.find(device.id)?.passwordHash, device.passwordHash)
  })

  it('still says which name is wrong', async () => {
    for (const [wanted, code] of [
      [{ username: '!' }, 'USERNAME_INVALID'],
      [{ password: '' }, 'PASSWORD_INVALID'],
    ] as const) {
      await assert.rejects(createFakeAdmin().pair({ ...PHONE, ...wanted }), { code })
    }
  })
})
