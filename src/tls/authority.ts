/**
 * An authority of one's own that a phone may trust, and the certificates that it signs: RFC 5280.
 *
 * Whoever has its key could vouch for what it permits and nothing else: addresses and names of
 * local networks. Those who are given it check that.
 * @module
 */

import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { bits, context, integer, octets, oid, sequence, set, text, time, TRUE } from './der.ts'
import type { KeyPair } from './identity.ts'

const DAY_MS = 86_400_000

/** Clocks of phones that are behind take a new certificate all the same. */
const BACKDATED_MS: number = DAY_MS

const AUTHORITY_MS: number = 3650 * DAY_MS

/** The longest that all browsers take, of public authorities too. */
const LEAF_MS: number = 397 * DAY_MS

/** Names that nobody can have in public: RFC 6762, RFC 8375, and what ICANN and routers use. */
export const PRIVATE_SUFFIXES: readonly string[] = [
  'local',
  'home.arpa',
  'internal',
  'lan',
  'localhost',
]

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))

const OIDS = {
  commonName: '2.5.4.3',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  altName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
}

/** Bits of a key usage: the first is digitalSignature, the sixth keyCertSign. */
const MAY_SIGN_HANDSHAKES = bits(Buffer.from([0x80]), 7)
const MAY_SIGN_CERTIFICATES = bits(Buffer.from([0x04]), 2)

/** Numbers of the kinds of a GeneralName. */
const [DNS, IP] = [2, 7]

/** The contents of a certificate, besides its keys. */
interface Contents {
  readonly subject: string
  readonly issuer: string
  readonly notBefore: number
  readonly notAfter: number
  readonly extensions: readonly Uint8Array[]
}

/**
 * Makes an authority.
 *
 * @param name What phones call it.
 * @param networks Subnets in CIDR notation that it may vouch for, besides {@link PRIVATE_SUFFIXES}.
 * @param now Unix milliseconds.
 */
export function createAuthority(name: string, networks: readonly string[], now: number): KeyPair {
  const { publicKey, privateKey } = newKeys()
  const permitted = [
    ...PRIVATE_SUFFIXES.map((suffix) => sequence(context(DNS, Buffer.from(suffix)))),
    ...networks.map((network) => sequence(context(IP, maskedBytes(network)))),
  ]
  const contents: Contents = {
    subject: name,
    issuer: name,
    notBefore: now - BACKDATED_MS,
    notAfter: now + AUTHORITY_MS,
    extensions: [
      // It signs servers and no other authority.
      critical(OIDS.basicConstraints, sequence(TRUE, integer(Buffer.from([0])))),
      critical(OIDS.keyUsage, MAY_SIGN_CERTIFICATES),
      critical(OIDS.nameConstraints, sequence(context(0, permitted))),
      extension(OIDS.subjectKey, octets(keyIdOf(publicKey))),
    ],
  }
  return { cert: certify(contents, publicKey, privateKey), key: toPem(privateKey) }
}

/**
 * Makes a certificate for a server, with a key of its own, signed by an authority.
 *
 * @param names Host names and addresses, those that the authority permits.
 * @param now Unix milliseconds.
 */
export function createLeaf(authority: KeyPair, names: readonly string[], now: number): KeyPair {
  const { publicKey, privateKey } = newKeys()
  const signer = new X509Certificate(authority.cert)
  const altNames = names.map((name) =>
    isIP(name) === 0 ? context(DNS, Buffer.from(name)) : context(IP, bytesOf(name)),
  )
  const contents: Contents = {
    subject: 'clipgate',
    issuer: commonNameOf(signer),
    notBefore: now - BACKDATED_MS,
    notAfter: Math.min(now + LEAF_MS, Date.parse(signer.validTo)),
    extensions: [
      critical(OIDS.keyUsage, MAY_SIGN_HANDSHAKES),
      extension(OIDS.extendedKeyUsage, sequence(oid(OIDS.serverAuth))),
      extension(OIDS.altName, sequence(...altNames)),
      extension(OIDS.subjectKey, octets(keyIdOf(publicKey))),
      extension(OIDS.authorityKey, sequence(context(0, keyIdOf(signer.publicKey)))),
    ],
  }
  const cert = certify(contents, publicKey, createPrivateKey(authority.key))
  return { cert, key: toPem(privateKey) }
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A certificate, as PEM. */
function certify(contents: Contents, publicKey: KeyObject, signer: KeyObject): string {
  const { subject, issuer, notBefore, notAfter, extensions } = contents
  const unsigned = sequence(
    context(0, [integer(Buffer.from([2]))]),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    sequence(time(notBefore), time(notAfter)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    context(3, [sequence(...extensions)]),
  )
  const signature = sign('sha256', unsigned, signer)
  return new X509Certificate(sequence(unsigned, ECDSA_WITH_SHA256, bits(signature))).toString()
}

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(oid(OIDS.commonName), text(commonName))))
}

function commonNameOf({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? ''
}

function extension(id: string, value: Uint8Array): Buffer {
  return sequence(oid(id), octets(value))
}

function critical(id: string, value: Uint8Array): Buffer {
  return sequence(oid(id), TRUE, octets(value))
}

/** Any twenty bytes will do, as long as they are those of this key: RFC 7093. */
function keyIdOf(key: KeyObject): Buffer {
  const der = key.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest().subarray(0, 20)
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // Browsers' spelling has no dots, and one gap at most.
  const [before = '', after] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (part: string): string[] => part.split(':').filter(Boolean)
  const [left, right] = [groups(before), groups(after ?? '')]
  const gap = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return Buffer.from(
    [...left, ...gap, ...right].map((part) => part.padStart(4, '0')).join(''),
    'hex',
  )
}

/** The address of a subnet and its mask, as name constraints have them. */
function maskedBytes(network: string): Buffer {
  const [address = '', prefix] = network.split('/')
  const bytes = bytesOf(address)
  const mask = bytes.map((_byte, index) => {
    const ones = Math.min(8, Math.max(0, Number(prefix) - 8 * index))
    return 0x100 - 2 ** (8 - ones)
  })
  return Buffer.concat([bytes, mask])
}
