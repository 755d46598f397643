/** Makes the identity of a server of its certificate and key, or refuses them. @module */

import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'

/** A certificate and its key. */
export interface KeyPair {
  /** PEM: the certificate, and those between it and its authority. */
  readonly cert: string
  /** PEM, without a password. */
  readonly key: string
}

/** A key pair, ready for handshakes. */
export interface Identity {
  readonly context: SecureContext
  /** The addresses and host names that the certificate is good for, as URLs spell them. */
  readonly names: readonly string[]
  /** Unix milliseconds. */
  readonly notBefore: number
  readonly notAfter: number
  /** Why clients may refuse it nevertheless, if they may. */
  readonly trouble?: string | undefined
}

/**
 * Makes an identity.
 *
 * @throws {Error} that completes "Cannot use …: ", when a part is none or they do not belong
 *   together.
 */
export function createIdentity({ cert, key }: KeyPair): Identity {
  const certificate = attempt('its certificate is none', () => new X509Certificate(cert))
  const secret = attempt('its key is none, or has a password', () => createPrivateKey(key))
  if (!certificate.checkPrivateKey(secret)) {
    throw new Error('the key belongs to another certificate')
  }
  return {
    // Nobody here is asked for a certificate, and the authorities that Node knows take a megabyte.
    // Clients without 1.3 are phones of 2018. Early data is off unless somebody sets its size, and
    // a second handshake on a connection of 1.2 is of use to nobody but who wants us busy.
    context: createSecureContext({
      cert,
      key,
      ca: [],
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    }),
    names: namesOf(certificate),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  }
}

/** The fingerprint as browsers and phones show it: SHA-256, in pairs with colons. */
export function fingerprintOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256
}

const NAME = /(?:^|, )(DNS|IP Address):([^,"]+)/g

function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return [...subjectAltName.matchAll(NAME)].map(([, kind, name = '']) => {
    if (kind === 'DNS' || !name.includes(':')) return name.toLowerCase()
    // OpenSSL does not leave the zeros out.
    return new URL(`http://[${name}]`).hostname.slice(1, -1)
  })
}

function attempt<Value>(reason: string, make: () => Value): Value {
  try {
    return make()
  } catch (cause) {
    throw new Error(reason, { cause })
  }
}
