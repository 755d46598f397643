/**
 * What can become of any request, for each operation of docs/openapi.yaml.
 * @module
 */

import { DomainError } from '../../../src/core/domain-error.ts'
import type { CredentialVerifier } from '../../../src/ports/credential-verifier.ts'
import { defer } from '../../support/defer.ts'
import { RawClient } from '../../support/raw-http.ts'
import type { Operation } from './api-description.ts'
import { casesOf, withFields, type Case, type CaseRow } from './case.ts'
import type { Station } from './station.ts'

/** See `failing-addresses.ts`. */
const PASSWORDS_AT_ONCE = 60

export function anyRequestCases({ id, method, isPublic }: Operation): readonly Case[] {
  const isWriting = !['GET', 'HEAD'].includes(method)
  const manyFields = Array.from({ length: 256 }, (_, index) => `X-${index}: 1`)
  return casesOf(id, [
    ['BAD_REQUEST', 'with two hosts', withFields('Host: box')],
    ['HEADER_TIMEOUT', 'whose header never ends', { request: { cut: 'header' } }],
    // A target beyond the limit; the query is no part of any path.
    ['TARGET_TOO_LONG', 'with a long query', { suffix: `?${'x'.repeat(8192)}` }],
    ['UNSUPPORTED_ENCODING', 'with a compressed body', withFields('Content-Encoding: gzip')],
    ['EXPECTATION_FAILED', 'that expects a miracle', withFields('Expect: miracle')],
    ['HEADERS_TOO_LARGE', 'with hundreds of header fields', withFields(...manyFields)],
    [
      'TRANSFER_CODING_UNSUPPORTED',
      'in an unknown transfer coding',
      withFields('Transfer-Encoding: gzip, chunked'),
    ],
    [
      'VERSION_UNSUPPORTED',
      'in a version that is not HTTP/1',
      { request: { version: 'HTTP/2.0' } },
    ],
    ['DRAINING', 'while the daemon stops', { options: { isDraining: () => true } }],
    ...(isPublic ? [] : DEVICE_ROWS),
    ...(isWriting ? [FROM_ELSEWHERE] : []),
  ])
}

const DEVICE_ROWS: readonly CaseRow[] = [
  ['BAD_PATH', 'with a fragment in the target', { suffix: '#top' }],
  ['UNAUTHORIZED', 'without credentials', { request: { isAnonymous: true } }],
  [
    'OVERLOADED',
    'while too many passwords are verified',
    {
      given: ({ verifier }) => {
        verifier.isBusy = true
      },
    },
  ],
  ['TOO_MANY_REQUESTS', 'from an address that tries many passwords', { given: tryPasswords }],
  ['INTERNAL', 'when verifying fails for an unknown reason', { given: breakVerifier }],
]

const FROM_ELSEWHERE: CaseRow = [
  'FORBIDDEN_ORIGIN',
  'from a page of another site',
  withFields('Origin: https://evil.example'),
]

function breakVerifier({ verifier }: Station): void {
  verifier.verify = () => Promise.reject(new Error('the worker has died'))
}

/** As many passwords as an address may try at once are still being verified; one more can wait. */
async function tryPasswords({ verifier, port }: Station): Promise<void> {
  const allAreTried = defer<void>()
  let tried = 0
  const replaced: CredentialVerifier = verifier
  replaced.verify = (_username, _password, { isDeferred }) => {
    if (isDeferred) return Promise.reject(new DomainError('VERIFIER_BUSY', 'Cannot verify now'))
    tried += 1
    if (tried === PASSWORDS_AT_ONCE) allAreTried.resolve()
    return new Promise(() => {})
  }
  const requests = Array.from({ length: PASSWORDS_AT_ONCE }, (_, index) => {
    const authorization = `Basic ${Buffer.from(`guess:${index}`).toString('base64')}`
    return `GET / HTTP/1.1\r\nHost: box\r\nAuthorization: ${authorization}\r\n\r\n`
  })
  for (const request of requests) (await RawClient.connect(port)).send(request)
  await allAreTried.promise
}
