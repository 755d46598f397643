/**
 * Requests for the bytes of items, at both of their places in docs/openapi.yaml.
 * @module
 */

import { DomainError } from '../../../src/core/domain-error.ts'
import {
  A_PART,
  casesOf,
  cutOff,
  GROUP_TIME,
  withBody,
  withFields,
  withHead,
  type Case,
  type CaseOf,
} from './case.ts'
import { PNG } from './conversation.ts'
import type { Station } from './station.ts'

const HELLO: CaseOf = { request: { body: 'hello' } }

const WITH_IMAGE: CaseOf = { given: pushImage }

const NO_ROOM: CaseOf = {
  options: {
    staging: { admit: () => Promise.reject(new DomainError('NO_SPACE', 'Cannot stage')) },
  },
}

function named(dataName: string): CaseOf {
  return { params: { dataName } }
}

export const FILE_CASES: readonly Case[] = [
  ...withHead([
    ...downloadCases('getFile'),
    ...casesOf('getFile', [
      [200, 'to a phone that says what time it is', WITH_IMAGE, withFields(GROUP_TIME)],
      ['BAD_PATH', 'with broken percent-encoding', named('%zz')],
      ['BAD_NAME', 'to a path', named('..%2fa')],
      ['NOT_FOUND', 'to another name', named('b'), WITH_IMAGE],
    ]),
  ]),
  ...casesOf('putFile', [
    [200, 'to bytes', withBody('hello', 'application/octet-stream')],
    [200, 'to an image', withBody('hello', 'image/png')],
    [200, 'to a phone that says what time it is', HELLO, withFields(GROUP_TIME)],
    [200, 'to nothing', { request: { body: '' } }],
    ['BAD_PATH', 'with broken percent-encoding', named('%zz'), HELLO],
    ['BAD_NAME', 'to a path', named('%2e%2e'), HELLO],
    ['INCOMPLETE_BODY', 'to bytes that are cut off', cutOff('hel')],
    ['PARTIAL_BODY', 'to a part', HELLO, withFields(A_PART)],
    ['BODY_TOO_LARGE', 'to many bytes', HELLO, { options: { maxFileBytes: 4 } }],
    ['NO_SPACE', 'when there is no room', HELLO, NO_ROOM],
  ]),
]

/** What any operation that answers with the bytes of an item does. */
export function downloadCases(id: string): readonly Case[] {
  const asking = (...fields: readonly string[]): CaseOf => ({
    given: pushImage,
    request: { fields },
  })
  const since = 'Fri, 01 Jan 2100 00:00:00 GMT'
  const before = 'Thu, 01 Jan 1970 00:00:00 GMT'
  const old = asking('Range: bytes=1-2', 'If-Range: "old"')
  return casesOf(id, [
    [200, 'with all bytes', asking()],
    [200, 'with all bytes when they have changed since', old],
    [206, 'with a part', asking('Range: bytes=1-2')],
    [304, 'to a client that has them', asking('If-None-Match: *')],
    [304, 'to a client that had them later', asking(`If-Modified-Since: ${since}`)],
    ['PRECONDITION_FAILED', 'to a client that has others', asking('If-Match: "another"')],
    [
      'PRECONDITION_FAILED',
      'to a client that had them before',
      asking(`If-Unmodified-Since: ${before}`),
    ],
    ['RANGE_NOT_SATISFIABLE', 'to a range behind the end', asking('Range: bytes=99-')],
    ['NOT_FOUND', 'while there is none'],
  ])
}

export function pushImage({ phone }: Station): Promise<void> {
  return phone.pushFile('Image', 'a.png', PNG)
}
