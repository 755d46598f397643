import assert from 'node:assert/strict'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createServer } from 'node:tls'
import { NEARBY } from '../../src/daemon/addresses.ts'
import { createAuthority, createLeaf } from '../../src/tls/authority.ts'
import type { TlsStatus } from '../../src/ports/admin.ts'
import { listen } from '../support/listen.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { besideDaemon, check, interfaces, type Surroundings } from './support/well-machine.ts'

const DAY_MS = 86_400_000

const NOW = Date.now()

/** The address of every machine here. */
const HERE = '192.168.1.20'

const inDays = (days: number): string => new Date(NOW + days * DAY_MS).toISOString()

describe('clipgate doctor, of HTTPS before a start', () => {
  it('says what plain HTTP is not enough for', async (t) => {
    const said = async (options: Surroundings['options'] = {}) =>
      (await check(t, { options })).of('https')
    assert.match((await said()).detail, /^off; .*ERR_BLOCKED_BY_CLIENT.*--tls local$/)
    const { ok, detail } = await said({ publicUrl: 'https://clip.example.net' })
    assert.deepEqual([ok, /in front at https:.*has it$/.test(detail)], [true, true])
  })

  it('looks at the files of a certificate: dates, names, and who may read the key', async (t) => {
    const folder = await temporaryFolder(t)
    const [tlsCert, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    const authority = createAuthority('clipgate', NEARBY, NOW - 500 * DAY_MS)
    const look = async (names: readonly string[], days: number, mode = 0o600) => {
      const { cert, key } = createLeaf(authority, names, NOW + days * DAY_MS)
      await writeFile(tlsCert, cert)
      await writeFile(tlsKey, key)
      await chmod(tlsKey, mode)
      return check(t, { options: { tlsCert, tlsKey, tlsListen: ['0.0.0.0:0'] } })
    }
    const rows: readonly (readonly [Parameters<typeof look>, RegExp])[] = [
      [[[HERE], 0], /^ok good until /],
      [[['desk.example'], 0], /^ok good until /],
      [[[HERE], -390], /^hint the certificate ends in [67] days, .* -> renew it .*by itself$/],
      [[[HERE], -400], /^PROBLEM the certificate ended on .*this machine says .* -> renew it/],
      [[[HERE], 10], /^PROBLEM the certificate is not valid before .* -> set the clock/],
      [[['192.168.1.99'], 0], /^PROBLEM .*for no name or address of this .* -> .*--tls local$/],
      [
        [[HERE], 0, 0o644],
        /^PROBLEM .*others may read it; chmod 600 it -> mend that before a start/,
      ],
    ]
    for (const [wanted, said] of rows) (await look(...wanted)).expect('https', said)
    const half = await check(t, { options: { tlsCert, tlsListen: ['0.0.0.0:0'] } })
    half.expect('https', /^PROBLEM --tls-cert and --tls-key belong together -> /)
  })

  it('looks at the authority of the data directory, and makes none', async (t) => {
    const dataDir = await temporaryFolder(t)
    const path = join(dataDir, 'tls-authority.pem')
    const options = { tls: 'local', tlsListen: ['0.0.0.0:0'] }
    const look = (more: Surroundings = {}) => check(t, { dataDir, options, ...more })
    ;(await look()).expect('https', /^ok the first start makes an authority$/)
    ;(await look()).expect('https', /^ok the first start makes an authority$/)
    const { cert, key } = createAuthority('clipgate', NEARBY, NOW)
    await writeFile(path, cert + key, { mode: 0o600 })
    ;(await look()).expect('https', /^ok good until /)
    const now = () => NOW + 11 * 365 * DAY_MS
    ;(await look({ now })).expect('https', /^PROBLEM .*good from .* set the clock, or remove it/)
    await chmod(path, 0o640)
    ;(await look()).expect('https', /^PROBLEM .*others may read it/)
  })
})

describe('clipgate doctor, of HTTPS beside a daemon', () => {
  /** A daemon that says this of itself, and what answers there; by name where it is on loopback. */
  async function serve(t: TestContext, status: Partial<TlsStatus> = {}, bound = '127.0.0.1') {
    const authority = createAuthority('clipgate', NEARBY, NOW)
    const server = createServer(createLeaf(authority, ['desk.local', '127.0.0.1'], NOW))
    const port = await listen(t, server)
    const tls: TlsStatus = {
      source: 'local',
      urls: [`https://${bound === '127.0.0.1' ? 'desk.local' : '127.0.0.1'}:${port}`],
      notBefore: inDays(-1),
      notAfter: inDays(390),
      fingerprint: undefined,
      error: undefined,
      ...status,
    }
    const urls = [`https://${bound}:${port}`]
    const { dataDir } = await besideDaemon(t, {
      listeners: [{ name: 'tls', urls, error: undefined }],
      tls,
    })
    const path = join(dataDir, 'tls-authority.pem')
    const write = ({ cert, key } = authority) => writeFile(path, cert + key, { mode: 0o600 })
    await write()
    const resolve = async () => ['127.0.0.1']
    const look = async (more: Surroundings = {}) => {
      const { ok, detail, fix } = (await check(t, { dataDir, resolve, ...more })).of('https')
      const word = fix === undefined ? 'ok' : 'hint'
      return `${ok ? word : 'PROBLEM'} ${detail}${fix === undefined ? '' : ` -> ${fix}`}`
    }
    return { look, write, path }
  }

  it('shakes hands as a phone that trusts the authority', async (t) => {
    const { look, write, path } = await serve(t)
    assert.match(await look(), /^ok https:\/\/desk\.local:\d+; good until .*; strict browsers open/)
    await write(createAuthority('clipgate', NEARBY, NOW))
    assert.match(
      await look(),
      /^PROBLEM .*is refused by who trusts tls-authority\.pem \(UNABLE_TO_/,
    )
    await rm(path)
    assert.match(await look(), /^PROBLEM .*tls-authority\.pem is gone.* -> put it back/)
  })

  it('tells of a chain that is not whole, or an authority that nobody knows', async (t) => {
    const { look } = await serve(t, { source: 'files' })
    assert.match(await look(), /^hint this machine does not trust .* -> .*fullchain\.pem/)
  })

  it('tells of names that nobody knows, and of what is in front', async (t) => {
    const { look } = await serve(t)
    const resolve = async () => []
    assert.match(await look({ resolve }), /^hint the name desk\.local is not known here -> .*--url/)
    const elsewhere = async () => ['203.0.113.7']
    const said = /^hint desk\.local leads to 203\.0\.113\.7, not to this .* -> .*--through https:/
    assert.match(await look({ resolve: elsewhere }), said)
    const options = { publicUrl: 'https://clip.example.net' }
    assert.match(await look({ options }), /^hint links name .* -> .*--through https:\/\/clip/)
  })

  for (const [what, status, said] of [
    ['no handshake', { urls: ['https://127.0.0.1:1'] }, /^PROBLEM no TLS at .*ECONNREFUSED/],
    ['an end', { notAfter: inDays(-1) }, /^PROBLEM the certificate ended on /],
    ['a wrong clock', { notBefore: inDays(2) }, /^PROBLEM .*not valid before .* -> set the clock/],
    ['an end that comes soon', { notAfter: inDays(5) }, /^hint .*ends in [45] days/],
    ['what cannot be used', { error: 'it is none' }, /^PROBLEM .*is not used: it is none -> mend/],
    ['no address', { urls: [] }, /^hint this machine alone can use it/],
    ['no name', { source: 'files', urls: [] }, /^PROBLEM .*no name or address of this machine/],
  ] as const) {
    it(`tells of ${what}`, async (t) => {
      const { look } = await serve(t, status)
      assert.match(await look(), said)
    })
  }

  it('tells of addresses that the certificate is not for', async (t) => {
    const two = interfaces({ eth0: HERE, wlan0: '10.1.2.3' })
    for (const [source, said] of [
      [
        'files',
        /^hint the certificate is not for 192\.168\.1\.20, 10\.1\.2\.3 -> get one for a name/,
      ],
      ['local', /^hint .* 192\.168\.1\.20, 10\.1\.2\.3 yet -> wait ten seconds/],
    ] as const) {
      const { look } = await serve(t, { source }, '0.0.0.0')
      assert.match(await look({ interfaces: two }), said)
    }
  })

  it('says that a daemon without HTTPS has to be started again for it', async (t) => {
    const { dataDir } = await besideDaemon(t, {})
    const findings = await check(t, { dataDir, options: { tls: 'local' } })
    assert.match(findings.of('https').fix ?? '', /start it again/)
  })
})
