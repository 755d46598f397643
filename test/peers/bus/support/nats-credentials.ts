/**
 * An operator, an account and users of NATS, as `nsc` would make them: JWTs signed with nkeys.
 * @module
 */

import { nkeys } from '@nats-io/transport-node'

type KeyPair = ReturnType<typeof nkeys.createUser>

export interface NatsAccounts {
  /** Lines for the configuration of a broker. */
  readonly config: string
  /** A `.creds` file of a user that may use these subjects only. */
  addUser(subjects: readonly string[]): string
}

export function createAccounts(): NatsAccounts {
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
