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
  // A clock may be wrong after a start, and right soon: no reason to serve nobody.
  const trouble = (): string | undefined => whyNotNow(authority.cert, options)
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
      return [renewals, trouble(), ...names()].join(' ')
    },
    load: async () => {
      const made = createIdentity(createLeaf(authority, names(), clock.now()))
      current = { ...made, trouble: trouble() }
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
}: Pick<LocalIdentityOptions, 'file' | 'path'>): Promise<KeyPair | undefined> {
  try {
    checkPrivate(await stat(path))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw unusable(path, messageOf(error), error)
  }
  const pem = (await file.read()) ?? ''
  try {
    createIdentity({ cert: pem, key: pem })
  } catch (error) {
    throw unusable(path, `${messageOf(error)}; remove it, and phones can trust a new one`, error)
  }
  return { cert: new X509Certificate(pem).toString(), key: pem }
}

/** Why nobody trusts the certificate of an authority at this time, if nobody does. */
export function whyNotNow(
  cert: string,
  { path, clock }: Pick<LocalIdentityOptions, 'path' | 'clock'>,
): string | undefined {
  const { validFrom, validTo } = new X509Certificate(cert)
  const [begin = 0, end = 0] = [validFrom, validTo].map((text) => Date.parse(text))
  if (clock.now() >= begin && clock.now() <= end) return undefined
  const dates = [begin, end].map((ms) => new Date(ms).toISOString().slice(0, 10))
  const remedy = 'set the clock, or remove it, and phones can trust a new one'
  return `${path} is good from ${dates.join(' to ')}; ${remedy}`
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
