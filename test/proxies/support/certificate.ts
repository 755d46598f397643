/**
 * A certificate that signs itself, for the name in the configurations of `deploy/`.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The placeholder of the shipped configurations. */
export const SITE = 'clip.example.com'

export interface Certificate {
  readonly certificatePath: string
  readonly keyPath: string
  /** PEM; clients trust it as their only authority. */
  readonly certificate: string
}

export async function makeCertificate(folder: string): Promise<Certificate> {
  const certificatePath = join(folder, 'certificate.pem')
  const keyPath = join(folder, 'key.pem')
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-days',
    '2',
    '-subj',
    `/CN=${SITE}`,
    '-addext',
    `subjectAltName=DNS:${SITE}`,
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-noenc',
    '-out',
    certificatePath,
    '-keyout',
    keyPath,
  ])
  return { certificatePath, keyPath, certificate: await readFile(certificatePath, 'utf8') }
}
