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
import type { Answer, RawRequest, Station } from './station.ts'

const HELLO: CaseOf = { request: { body: 'hello' } }

const WITH_IMAGE: CaseOf = { given: pushImage }

const LIMITED: CaseOf = { options: { maxFileBytes: 9 } }

const NO_ROOM: CaseOf = {
  options: {
    staging: { admit: () => Promise.reject(new DomainError('NO_SPACE', 'Cannot stage')) },
  },
}

const [PIECE, LENGTH] = ['Content-Type: application/partial-upload', 'Upload-Length: 99'] as const

const [BEGUN, IS_LAST] = ['Upload-Complete: ?0', 'Upload-Complete: ?1'] as const

const [AT_0, AT_5] = ['Upload-Offset: 0', 'Upload-Offset: 5'] as const

const INTEROP = 'Upload-Draft-Interop-Version: 9'

const OTHER_DIGESTS = ['Content', 'Repr'].map(
  (kind) => `${kind}-Digest: sha-256=:${'A'.repeat(43)}=:`,
)

const REST = { body: ' world', fields: [PIECE, AT_5] }

const FULL: CaseOf = {
  options: {
    staging: {
      find: (deviceId, token) => ({
        source: { deviceId, declaredSize: undefined },
        token,
        dataName: 'a',
        offset: 5,
        length: undefined,
        isComplete: false,
        remainingMs: 1,
        seize: () => Promise.reject(new DomainError('NO_SPACE', 'Cannot stage')),
      }),
    },
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
    [200, 'to an upload of a batch', HELLO, withFields(`X-Clipgate-Batch: ${'ab'.repeat(16)}/1`)],
    ['BAD_REQUEST', 'to another place in a batch', HELLO, withFields('X-Clipgate-Batch: 1')],
    ['BAD_PATH', 'with broken percent-encoding', named('%zz'), HELLO],
    ['BAD_NAME', 'to a path', named('%2e%2e'), HELLO],
    ['INCOMPLETE_BODY', 'to bytes that are cut off', cutOff('hel')],
    ['PARTIAL_BODY', 'to a part', HELLO, withFields(A_PART)],
    ['BODY_TOO_LARGE', 'to many bytes', HELLO, { options: { maxFileBytes: 4 } }],
    ['NO_SPACE', 'when there is no room', HELLO, NO_ROOM],
    [201, 'to the beginning of an upload', HELLO, withFields(BEGUN, LENGTH)],
    [200, 'to an upload that was whole', HELLO, withFields(IS_LAST, INTEROP)],
    ['DIGEST_MISMATCH', 'to other bytes', HELLO, withFields(...OTHER_DIGESTS)],
    ['UPLOAD_LENGTH_INCONSISTENT', 'to two lengths', HELLO, withFields(LENGTH, IS_LAST)],
  ]),
  ...casesOf('getUploadLimits', [[204, 'to anybody who asks']]),
  ...withHead(
    casesOf('getUpload', [
      [204, 'to who has begun it', beginning({})],
      ['NOT_FOUND', 'when there is none'],
    ]),
  ),
  ...casesOf('patchUpload', [
    [200, 'to the rest', beginning(REST, IS_LAST, INTEROP)],
    [204, 'to a part', beginning(REST, BEGUN, LENGTH)],
    ['BAD_REQUEST', 'without Upload-Complete', beginning(REST)],
    ['INCOMPLETE_BODY', 'to bytes that are cut off', beginning({ ...REST, cut: 'body' }, IS_LAST)],
    ['DIGEST_MISMATCH', 'to other bytes', beginning(REST, IS_LAST, ...OTHER_DIGESTS)],
    ['UPLOAD_LENGTH_INCONSISTENT', 'to too few bytes', beginning(REST, IS_LAST, LENGTH)],
    ['NOT_FOUND', 'when there is none', withFields('Upload-Offset: 0', IS_LAST)],
    ['UPLOAD_OFFSET_MISMATCH', 'elsewhere', beginning({ fields: [PIECE, AT_0] }, IS_LAST)],
    ['CONFLICT', 'when it is complete', beginning(REST, IS_LAST), { exchange: appendTwice }],
    ['BODY_TOO_LARGE', 'to many bytes', beginning(REST, IS_LAST), LIMITED],
    ['UNSUPPORTED_MEDIA_TYPE', 'to a file', beginning({ ...REST, fields: [AT_5] }, IS_LAST)],
    ['NO_SPACE', 'when there is no room', withFields(PIECE, AT_5, IS_LAST), FULL],
  ]),
  ...casesOf('deleteUpload', [
    [204, 'to who has begun it', beginning({})],
    ['NOT_FOUND', 'when there is none'],
  ]),
]

/** A request for an upload of which `hello` has come. */
function beginning(request: Partial<RawRequest>, ...more: readonly string[]): CaseOf {
  const { fields = [] } = request
  return {
    request: { ...request, fields: [...fields, ...more] },
    exchange: async (at, asked) => at.ask({ ...asked, target: await beginUpload(at) }),
  }
}

async function beginUpload({ ask }: Station): Promise<string> {
  const { headers } = await ask({
    method: 'PUT',
    target: '/file/a',
    body: 'hello',
    fields: [BEGUN],
  })
  return headers['location'] ?? ''
}

/** The second one comes when the upload is complete, and says where that is. */
async function appendTwice(at: Station, request: RawRequest): Promise<Answer> {
  const target = await beginUpload(at)
  await at.ask({ ...request, target })
  return at.ask({ ...request, target, fields: [PIECE, 'Upload-Offset: 11', 'Upload-Complete: ?0'] })
}

/** What any operation that answers with the bytes of an item does. */
export function downloadCases(id: string): readonly Case[] {
  const asking = (...fields: readonly string[]): CaseOf => ({
    given: pushImage,
    request: { fields },
  })
  const old = asking('Range: bytes=1-2', 'If-Range: "old"')
  return casesOf(id, [
    [200, 'with all bytes', asking()],
    [200, 'with all bytes when they have changed since', old],
    [206, 'with a part', asking('Range: bytes=1-2')],
    [304, 'to a client that has them', asking('If-None-Match: *')],
    ['PRECONDITION_FAILED', 'to a client that has others', asking('If-Match: "another"')],
    ['RANGE_NOT_SATISFIABLE', 'to a range behind the end', asking('Range: bytes=99-')],
    ['NOT_FOUND', 'while there is none'],
  ])
}

export function pushImage({ phone }: Station): Promise<void> {
  return phone.pushFile('Image', 'a.png', PNG)
}
