/**
 * Requests for the bytes of items, at both of their places in docs/openapi.yaml.
 * @module
 */

import { DomainError } from '../../../src/core/domain-error.ts'
import { A_PART, failure, GROUP_TIME, success, withHead, type Case, type CaseOf } from './case.ts'
import { PNG } from './conversation.ts'
import type { Station } from './station.ts'

const NAME = { dataName: 'a.png' }

export const FILE_CASES: readonly Case[] = [
  ...withHead([
    ...downloadCases('getFile', { params: NAME }),
    success('getFile', 200, 'to a phone that says what time it is', {
      params: NAME,
      given: pushImage,
      request: { fields: [GROUP_TIME] },
    }),
    failure('getFile', 'BAD_PATH', 'with broken percent-encoding', { params: { dataName: '%zz' } }),
    failure('getFile', 'BAD_NAME', 'to a path', { params: { dataName: '..%2fa' } }),
    failure('getFile', 'NOT_FOUND', 'to another name', {
      params: { dataName: 'b' },
      given: pushImage,
    }),
  ]),

  success('putFile', 200, 'to bytes', {
    params: NAME,
    ...upload('hello', 'Content-Type: application/octet-stream'),
  }),
  success('putFile', 200, 'to an image', {
    params: NAME,
    ...upload('hello', 'Content-Type: image/png'),
  }),
  success('putFile', 200, 'to a phone that says what time it is', {
    params: NAME,
    ...upload('hello', GROUP_TIME),
  }),
  success('putFile', 200, 'to nothing', { params: NAME, ...upload('') }),
  failure('putFile', 'BAD_PATH', 'with broken percent-encoding', {
    params: { dataName: '%zz' },
    ...upload('a'),
  }),
  failure('putFile', 'BAD_NAME', 'to a path', { params: { dataName: '%2e%2e' }, ...upload('a') }),
  failure('putFile', 'INCOMPLETE_BODY', 'to bytes that are cut off', {
    params: NAME,
    request: { body: 'hel', cut: 'body' },
  }),
  failure('putFile', 'PARTIAL_BODY', 'to a part', { params: NAME, ...upload('hello', A_PART) }),
  failure('putFile', 'BODY_TOO_LARGE', 'to many bytes', {
    params: NAME,
    ...upload('hello'),
    options: { maxFileBytes: 4 },
  }),
  failure('putFile', 'NO_SPACE', 'when there is no room', {
    params: NAME,
    ...upload('hello'),
    options: {
      staging: { admit: () => Promise.reject(new DomainError('NO_SPACE', 'Cannot stage')) },
    },
  }),
]

/** What any operation that answers with the bytes of an item does. */
export function downloadCases(id: string, { params = {} }: CaseOf): readonly Case[] {
  const given = pushImage
  const asking = (...fields: readonly string[]): CaseOf => ({ params, given, request: { fields } })
  return [
    success(id, 200, 'with all bytes', asking()),
    success(id, 200, 'with a name that needs escaping', { params, given: pushImage }),
    success(
      id,
      200,
      'with all bytes when they have changed since',
      asking('Range: bytes=1-2', 'If-Range: "old"'),
    ),
    success(id, 206, 'with a part', asking('Range: bytes=1-2')),
    success(id, 304, 'to a client that has them', asking('If-None-Match: *')),
    success(
      id,
      304,
      'to a client that had them later',
      asking('If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'),
    ),
    failure(
      id,
      'PRECONDITION_FAILED',
      'to a client that has others',
      asking('If-Match: "another"'),
    ),
    failure(id, 'PRECONDITION_FAILED', 'to a client that had them before', {
      ...asking('If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT'),
    }),
    failure(id, 'RANGE_NOT_SATISFIABLE', 'to a range behind the end', asking('Range: bytes=99-')),
    failure(id, 'NOT_FOUND', 'while there is none', { params }),
  ]
}

export function pushImage({ phone }: Station): Promise<void> {
  return phone.pushFile('Image', 'a.png', PNG)
}

function upload(body: string, ...fields: readonly string[]): CaseOf {
  return { request: { body, fields } }
}
