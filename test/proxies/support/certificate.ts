/**
 * A certificate that signs itself, for the name in the configurations of `deploy/`.
 * @module
 */

import { makeCertificate, type TestCertificate } from '../../support/certificates.ts'

/** The placeholder of the shipped configurations. */
export const SITE = 'clip.example.com'

/** Makes the certificate of {@link SITE}; clients trust it as their only authority. */
export function makeSiteCertificate(folder: string): Promise<TestCertificate> {
  return makeCertificate(folder, SITE, { altName: `DNS:${SITE}` })
}
