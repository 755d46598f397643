/** Certificates, made with openssl. @module */

import { X509Certificate } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execute } from './execute.ts'

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc']

export interface TestCertificate {
  /** PEM. */
  readonly key: string
  readonly cert: string
  readonly certPath: string
  readonly keyPath: string
  /** SHA-256, 64 hex digits. */
  readonly fingerprint: string
}

export interface CertificateOptions {
  /** As openssl spells it: `IP:127.0.0.1`. */
  readonly altName?: string
  /** Who signs it; it signs itself otherwise. */
  readonly authority?: TestCertificate
  /** Made so long ago that it is not valid any more. */
  readonly isExpired?: true
  /** How long it is good; two days unless given. */
  readonly days?: number
}

/** @param name Its files are called so. */
export async function makeCertificate(
  folder: string,
  name: string,
  { altName = 'IP:127.0.0.1', authority, isExpired, days = 2 }: CertificateOptions = {},
): Promise<TestCertificate> {
  const certPath = join(folder, `${name}.pem`)
  const keyPath = join(folder, `${name}.key`)
  const signing = authority ? ['-CA', authority.certPath, '-CAkey', authority.keyPath] : []
  const [program = '', ...before] = isExpired ? ['faketime', '-f', '-9d', 'openssl'] : ['openssl']
  await execute(program, [
    ...before,
    'req',
    '-x509',
    '-days',
    `${days}`,
    '-subj',
    `/CN=${name}`,
    ...signing,
    '-addext',
    `subjectAltName=${altName}`,
    ...KEY,
    '-out',
    certPath,
    '-keyout',
    keyPath,
  ])
  const [key, cert] = await Promise.all([keyPath, certPath].map((path) => readFile(path, 'utf8')))
  if (key === undefined || cert === undefined) throw new Error('There are no files')
  const fingerprint = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()
  return { key, cert, certPath, keyPath, fingerprint }
}

/** A key and certificate of one's own that can sign others. */
export async function makeAuthority(folder: string): Promise<TestCertificate> {
  const config = join(folder, 'authority.cnf')
  await writeFile(config, '[req]\ndistinguished_name=name\n[name]\n')
  const certPath = join(folder, 'authority.pem')
  const keyPath = join(folder, 'authority.key')
  await execute('openssl', [
    'req',
    '-x509',
    '-config',
    config,
    '-days',
    '30',
    '-subj',
    '/CN=authority',
    '-addext',
    'basicConstraints=critical,CA:TRUE',
    '-addext',
    'keyUsage=keyCertSign',
    ...KEY,
    '-out',
    certPath,
    '-keyout',
    keyPath,
  ])
  const [key, cert] = [await readFile(keyPath, 'utf8'), await readFile(certPath, 'utf8')]
  return { key, cert, certPath, keyPath, fingerprint: '' }
}
