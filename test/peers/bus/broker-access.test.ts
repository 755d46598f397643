import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { nkeys } from '@nats-io/transport-node'
import { deriveSecrets, parseCircleKey } from '../../../src/peers/bus/circle-key.ts'
import { makeCertificate } from '../../support/certificates.ts'
import { needs } from '../../support/requirements.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { arrives, isText } from '../support/daemons.ts'
import { busOf, logs, newKey, startBusDaemon, startOnBus } from './support/bus-daemons.ts'
import { startBroker } from './support/nats-broker.ts'

describe('a broker with TLS', needs('nats-server', 'openssl'), () => {
  it('is used when its certificate is signed as it has to be, and else not told anything', async (t) => {
    const folder = await temporaryFolder(t)
    const altName = 'IP:127.0.0.1,DNS:broker.example'
    for (const name of ['broker', 'other']) await makeCertificate(folder, name, { altName })
    // The one that is recommended, with a certificate that is here.
    const path = new URL('../../../deploy/nats/nats-server.conf', import.meta.url)
    const sample = await readFile(path, 'utf8')
    const config = sample.replaceAll('/etc/nats', folder).replace(/^listen:.*$/m, '')
    assert.notEqual(config, sample)
    const { port } = await startBroker(t, { config })
    const [key, url] = [newKey(), `tls://127.0.0.1:${port}`]
    const ca = (name: string): readonly string[] => ['--bus-ca', join(folder, `${name}.pem`)]
    const a = await startOnBus(t, { key, url, args: ca('broker') })
    const b = await startOnBus(t, { key, url, args: ca('broker') })
    await a.phone.pushText('over TLS')
    await arrives(b, isText('over TLS'))

    for (const args of [[], ca('other')]) {
      const c = await startBusDaemon(t, { key, url, args })
      await logs(c, /Cannot use the bus/)
      const { state, error } = await busOf(c)
      assert.deepEqual([state, /certificate/.test(String(error))], ['waiting', true], String(error))
      assert.equal((await c.phone.document())['text'], '')
    }
  })

  it('is wanted where the URL says so', async (t) => {
    const { port } = await startBroker(t)
    const c = await startBusDaemon(t, { key: newKey(), url: `tls://127.0.0.1:${port}` })
    await logs(c, /Cannot use the bus.*tls/)
    assert.equal((await busOf(c)).state, 'waiting')
  })
})

describe('a broker that wants credentials', needs('nats-server'), () => {
  it('lets those in that have a credentials file, also a new one, and nobody else', async (t) => {
    const folder = await temporaryFolder(t)
    const key = newKey()
    const { subject } = deriveSecrets(parseCircleKey(key))
    const accounts = createAccounts()
    const { url } = await startBroker(t, { config: accounts.config })
    const [good, bad] = [join(folder, 'good.creds'), join(folder, 'bad.creds')]
    await writeFile(good, accounts.addUser([subject]))
    await writeFile(bad, accounts.addUser(['elsewhere']))
    const a = await startOnBus(t, { key, url, args: ['--bus-credentials', good] })
    const without = await startBusDaemon(t, { key, url })
    await logs(without, /Cannot use the bus.*Authorization Violation/)

    const b = await startBusDaemon(t, { key, url, args: ['--bus-credentials', bad] })
    await logs(b, /Cannot use the bus.*[Pp]ermissions [Vv]iolation/)
    await a.phone.pushText('with credentials')
    assert.equal((await b.phone.document())['text'], '')
    await writeFile(bad, accounts.addUser([subject]))
    await arrives(b, isText('with credentials'))
    assert.ok(!b.daemon.stderr().includes('SEED'), 'the seed is nowhere')
  })
})

type KeyPair = ReturnType<typeof nkeys.createUser>

interface NatsAccounts {
  /** Lines for the configuration of a broker. */
  readonly config: string
  /** A `.creds` file of a user that may use these subjects only. */
  addUser(subjects: readonly string[]): string
}

function createAccounts(): NatsAccounts {
  const operator = nkeys.createOperator()
  const account = nkeys.createAccount()
  const operatorJwt = sign(operator, operator, 'operator', {})
  const limited = ['subs', 'conn', 'leaf', 'imports', 'exports', 'data', 'payload']
  const unlimited = { ...Object.fromEntries(limited.map((name) => [name, -1])), wildcards: true }
  const accountJwt = sign(operator, account, 'account', { limits: unlimited })
  return {
    config: [
      `operator: ${operatorJwt}`,
      'resolver: MEMORY',
      `resolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`,
    ].join('\n'),
    addUser: (subjects) => {
      const user = nkeys.createUser()
      const allow = { allow: subjects }
      const claims = { pub: allow, sub: allow, subs: -1, data: -1, payload: -1 }
      const jwt = sign(account, user, 'user', claims)
      const seed = new TextDecoder().decode(user.getSeed())
      return [
        '-----BEGIN NATS USER JWT-----',
        jwt,
        '------END NATS USER JWT------',
        '',
        '-----BEGIN USER NKEY SEED-----',
        seed,
        '------END USER NKEY SEED------',
        '',
      ].join('\n')
    },
  }
}

function sign(issuer: KeyPair, subject: KeyPair, type: string, claims: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const body = {
    jti: 'A'.repeat(52),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: type,
    sub: subject.getPublicKey(),
    nats: { ...claims, type, version: 2 },
  }
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(body)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}
