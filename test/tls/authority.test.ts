import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { connect, createServer } from 'node:tls'
import { NEARBY } from '../../src/daemon/addresses.ts'
import { createAuthority, createLeaf } from '../../src/tls/authority.ts'
import { integer, oid, sequence, time } from '../../src/tls/der.ts'
import { createIdentity, type KeyPair } from '../../src/tls/identity.ts'
import { openLocalIdentity } from '../../src/tls/local-identity.ts'
import { execute } from '../support/execute.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import fc from '../support/property.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NAMES = ['desk.local', 'localhost', '127.0.0.1', '::1', '192.168.1.20', 'fd00:1::7']

const NOW = Date.now()

const make = () => createAuthority('clipgate on desk', NEARBY, NOW)

/** What openssl says of a certificate, as strictly as it can. */
async function verify(t: TestContext, authority: KeyPair, leaf: KeyPair): Promise<string> {
  const folder = await temporaryFolder(t)
  const [ca, server] = [join(folder, 'ca.pem'), join(folder, 'server.pem')]
  await writeFile(ca, authority.cert)
  await writeFile(server, leaf.cert)
  const strict = ['-x509_strict', '-purpose', 'sslserver']
  const said = await execute('openssl', ['verify', ...strict, '-CAfile', ca, server]).catch(
    (error: { readonly stderr: string }) => ({ stdout: error.stderr }),
  )
  return said.stdout
}

describe('an authority of our own', () => {
  it('signs for networks and names of homes, and openssl finds nothing wrong', async (t) => {
    const authority = make()
    const leaf = createLeaf(authority, NAMES, NOW)
    assert.match(await verify(t, authority, leaf), /: OK$/m)
    assert.deepEqual(createIdentity(leaf).names, NAMES)
    const days = (createIdentity(leaf).notAfter - NOW) / 86_400_000
    assert.ok(days > 390 && days < 398)
    const { ca, subject } = new X509Certificate(authority.cert)
    assert.deepEqual([ca, subject], [true, 'CN=clipgate on desk'])
  })

  it('cannot vouch for what is public, nor make another authority', async (t) => {
    const authority = make()
    for (const name of [
      'example.com',
      'notlocal',
      'local.example',
      '8.8.8.8',
      '2001:db8::1',
      '172.32.0.1',
    ]) {
      const said = await verify(t, authority, createLeaf(authority, [name], NOW))
      assert.match(said, /permitted subtree violation/, name)
    }
    // A leaf that signs is no authority.
    const leaf = createLeaf(authority, NAMES, NOW)
    assert.match(await verify(t, leaf, createLeaf(leaf, NAMES, NOW)), /: verification failed$/m)
  })

  it('is trusted by Node for each name of a certificate, and no other', async (t) => {
    const authority = make()
    const server = createServer(createLeaf(authority, NAMES, NOW)).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const tries = (servername: string) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername })
        socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false))
        socket.once('secureConnect', () => socket.destroy())
      })
    assert.deepEqual(await Promise.all(['desk.local', 'localhost'].map(tries)), [true, true])
    assert.equal(await tries('other.local'), false)
  })

  it('gives another certificate once the machine has other addresses', async () => {
    const clock = new FakeClock(NOW)
    let names = ['192.168.1.20']
    const file = new MemoryPrivateFile()
    const source = await openLocalIdentity({
      ...{ file, path: '/nowhere/at/all', clock, name: 'clipgate', networks: NEARBY },
      names: () => names,
    })
    const first = await source.look()
    assert.deepEqual((await source.load()).names, names)
    assert.equal(await source.look(), first)
    names = ['10.0.0.2', 'desk.local']
    assert.notEqual(await source.look(), first)
    assert.deepEqual((await source.load()).names, names)
    assert.match((await file.read()) ?? '', /CERTIFICATE[^]*PRIVATE KEY/)
  })

  it('makes no certificate anew that could not be good for longer', async () => {
    const clock = new FakeClock(NOW)
    const file = new MemoryPrivateFile()
    const source = await openLocalIdentity({
      ...{ file, path: '/none', clock, name: 'clipgate', networks: [] },
      names: () => ['localhost'],
    })
    const before = await source.look()
    await source.load()
    // Ten days before the end of the authority.
    clock.advance(3640 * 86_400_000)
    const due = await source.look()
    assert.notEqual(due, before)
    await source.load()
    assert.equal(await source.look(), due)
  })
})

describe('DER', () => {
  it('is what a parser reads back', () => {
    const parse = (der: Uint8Array) => {
      const long = der[1] ?? 0
      const header = long < 0x80 ? 2 : 2 + (long & 0x7f)
      return { tag: der[0], header, body: der.subarray(header) }
    }
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        const { tag, body } = parse(integer(bytes))
        const hex = (part: Uint8Array) => BigInt(`0x${Buffer.from(part).toString('hex')}`)
        assert.deepEqual([tag, hex(body)], [2, hex(bytes)])
        // No sign, and no more zeros than that takes.
        assert.ok(
          (body[0] ?? 0) < 0x80 && (body[0] !== 0 || body.length === 1 || (body[1] ?? 0) >= 0x80),
        )
        const whole = sequence(bytes)
        assert.deepEqual(new Uint8Array(parse(whole).body), bytes)
        assert.equal(whole.length, parse(whole).header + bytes.length)
      }),
    )
    assert.equal(oid('1.2.840.10045.4.3.2').toString('hex'), '06082a8648ce3d040302')
    assert.equal(time(Date.UTC(2049, 11, 31, 23, 59, 59)).toString('latin1', 2), '491231235959Z')
    assert.equal(time(Date.UTC(2050, 0, 1)).toString('latin1', 2), '20500101000000Z')
  })
})
