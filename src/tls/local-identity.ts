/**
 * The certificate of a gateway that has an authority of its own: for the addresses and names that
 * the machine has now, replaced when these change, and before it ends.
 *
 * It lives in memory, and is another one after each start: only the authority is kept.
 * @module
 */

import { X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { codeOf } from '../lib/system-error.ts'
import type { PrivateFile } from '../ports/private-file.ts'
import { createAuthority, createLeaf } from './authority.ts'
import type { IdentitySource } from './follow-identity.ts'
import { createIdentity, type Identity, type KeyPair } from './identity.ts'
import { checkPrivate } from './identity-files.ts'

/** The file of the authority in a data directory: its certificate and its key, as PEM. */
export const AUTHORITY_FILE = 'tls-authority.pem'

/** A certificate is replaced this long before its end. */
const RENEWAL_MS: number = 30 * 86_400_000

/** Options of {@link openLocalIdentity}. */
export interface LocalIdentityOptions {
  readonly file: PrivateFile
  /** Where that is. */
  readonly path: string
  readonly clock: Pick<Clock, 'now'>
  /** The name of the authority on phones: letters, digits, spaces and hyphens. */
  readonly name: string
  /** Subnets that the authority may vouch for. */
  readonly networks: readonly string[]
  /** The addresses and names that the machine has now. */
  readonly names: () => readonly string[]
}

/** A source, and the certificate of the authority that phones are to trust, as PEM. */
export interface LocalIdentity extends IdentitySource {
  readonly authority: string
}

/**
 * Reads the authority, or makes one where there is none.
 *
 * @throws {Error} when its file holds none, or others may read it.
 * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`.
 */
export async function openLocalIdentity(options: LocalIdentityOptions): Promise<LocalIdentity> {
  const { clock, names } = options
  const authority = (await readAuthority(options)) ?? (await makeAuthority(options))
  const end = Date.parse(new X509Certificate(authority.cert).validTo)
  let current: Identity | undefined
  let renewals = 0
  return {
    authority: authority.cert,
    look: async () => {
      const now = clock.now()
      // None can be good for longer than the authority.
      const isDue =
        current !== undefined &&
        ((now > current.notAfter - RENEWAL_MS && current.notAfter < end) || now < current.notBefore)
      if (isDue) renewals += 1
      return [renewals, ...names()].join(' ')
    },
    load: async () => {
      current = createIdentity(createLeaf(authority, names(), clock.now()))
      return current
    },
  }
}

/**
 * Reads the authority, if there is one.
 *
 * @throws As {@link openLocalIdentity}.
 */
export async function readAuthority({
  file,
  path,
  clock,
}: Pick<LocalIdentityOptions, 'file' | 'path' | 'clock'>): Promise<KeyPair | undefined> {
  try {
    checkPrivate(await stat(path))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unusable(path, messageOf(error), error)
  }
  const pem = (await file.read()) ?? ''
  let identity: Identity
  try {
    identity = createIdentity({ cert: pem, key: pem })
  } catch (error) {
    throw unusable(path, `${messageOf(error)}; remove it, and phones can trust a new one`, error)
  }
  const { notBefore, notAfter } = identity
  if (clock.now() < notBefore || clock.now() > notAfter) {
    const dates = [notBefore, notAfter].map((ms) => new Date(ms).toISOString().slice(0, 10))
    const remedy = 'set the clock, or remove it, and phones can trust a new one'
    throw unusable(path, `it is good from ${dates.join(' to ')}; ${remedy}`)
  }
  return { cert: new X509Certificate(pem).toString(), key: pem }
}

async function makeAuthority({
  file,
  name,
  networks,
  clock,
}: LocalIdentityOptions): Promise<KeyPair> {
  const authority = createAuthority(name, networks, clock.now())
  await file.write(authority.cert + authority.key)
  return authority
}

function unusable(path: string, reason: string, cause?: unknown): Error {
  return new Error(`Cannot use ${path}: ${reason}`, { cause })
}
