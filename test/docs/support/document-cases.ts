/**
 * Requests for the document, in both dialects of docs/openapi.yaml.
 * @module
 */

import { DomainError } from '../../../src/core/domain-error.ts'
import { REPEAT_PUSH_MS } from '../../../src/core/limits.ts'
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
import type { Station } from './station.ts'

const MEMBER = { id: 'm_0123456789abcdef' }

/** The device of another daemon. */
const PEER = { username: 'another_daemon', password: 'password of a member' }

const STAMPED = { stampedAt: 1, stampedBy: MEMBER.id, mediaType: 'text/plain' }

const TOO_FAR_AHEAD: CaseOf = {
  ...push({ type: 'Text', text: 'd', stampedAt: 99_999_999_999_999, stampedBy: MEMBER.id }),
  options: { member: { ...MEMBER, now: () => 0, learn: () => undefined, believes: () => false } },
}

/** Asks as the device of another daemon. */
const AS_PEER: CaseOf = {
  given: ({ devices }) => devices.add({ kind: 'peer', ...PEER }),
  request: {
    fields: [
      `Authorization: Basic ${Buffer.from(`${PEER.username}:${PEER.password}`).toString('base64')}`,
    ],
    isAnonymous: true,
  },
}

const UPLOADED: CaseOf = {
  given: ({ phone }) => phone.fetch('/file/a', { method: 'PUT', body: 'hello' }),
}

const BATCH = { batch: 'ab'.repeat(16), members: [1] }

export const DOCUMENT_CASES: readonly Case[] = ['Sync', 'SyncClipboard'].flatMap((dialect) => [
  ...withHead(readingCases(`get${dialect}Document`)),
  ...pushingCases(`put${dialect}Document`),
])

function readingCases(id: string): readonly Case[] {
  const pushed = (type: 'Image' | 'Group', name: string): CaseOf => ({
    given: ({ phone }) => phone.pushFile(type, name, Buffer.from(type)),
  })
  return casesOf(id, [
    [200, 'while there is no item'],
    [200, 'with a text', { given: ({ phone }) => phone.pushText('hallöchen') }],
    [200, 'with an image', pushed('Image', 'a.png')],
    [200, 'with a group', pushed('Group', 'a.zip')],
    [200, 'to a phone that says what time it is', withFields(GROUP_TIME)],
    [304, 'to a client that has it', withFields('If-None-Match: *')],
    ['PRECONDITION_FAILED', 'to a client that has another', withFields('If-Match: "another"')],
  ])
}

function pushingCases(id: string): readonly Case[] {
  const hello = push({ type: 'Text', text: 'hello', hasData: false, size: 5, hash: 'aa' })
  const nulls = { hasData: null, dataName: null, contentId: null }
  return casesOf(id, [
    [200, 'to a text', hello],
    [200, 'to an empty text', push({ type: 'Text', text: '' })],
    [200, 'to nulls', push({ type: 'Text', text: 'a', ...nulls })],
    [
      200,
      'to the stamp of a device that is no peer',
      push({ type: 'Text', text: 'b', ...STAMPED }),
    ],
    ['STAMP_AHEAD', 'to a member whose stamp is too far ahead', TOO_FAR_AHEAD, AS_PEER],
    [200, 'to a phone that says what time it is', hello, withFields(GROUP_TIME)],
    [200, 'to an old body', push({ type: 'Text', Clipboard: 'hello', File: '' })],
    [
      200,
      'to a file that was uploaded',
      push({ type: 'File', hasData: true, dataName: 'a' }),
      UPLOADED,
    ],
    [200, 'to a batch', push({ type: 'File', ...BATCH }), { given: uploadBatch }],
    ['NOTHING_STAGED', 'to a batch that did not come', push({ type: 'Group', ...BATCH })],
    ['BAD_BODY', 'to what is no document', push({ type: 'Movie' })],
    ['BAD_BODY', 'to nothing but a type', push({ type: 'Text', txt: 'a', text: null })],
    ['PARTIAL_BODY', 'to a part', hello, withFields(A_PART)],
    ['BAD_NAME', 'to a path', push({ type: 'File', dataName: '../etc/passwd' })],
    ['INCOMPLETE_BODY', 'to a body that is cut off', cutOff('{"type":')],
    ['NOTHING_STAGED', 'when nothing was uploaded', push({ type: 'Image', dataName: 'a.png' })],
    [
      'NOT_FOUND',
      'when the bytes of a known item are gone',
      push({ type: 'File', dataName: 'a' }),
      { given: pushAndLose },
    ],
    ['BODY_TOO_LARGE', 'to a long document', hello, { options: { maxMetadataBytes: 8 } }],
    ['NO_SPACE', 'when the disk is full', hello, { given: fillDisk }],
  ])
}

function uploadBatch({ phone }: Station): Promise<void> {
  return phone.uploadBatch(BATCH.batch, [['a.png', 'hello']])
}

function push(document: object): CaseOf {
  return withBody(JSON.stringify(document), 'application/json')
}

/** The bytes of the current item go away, as those of a file on the desktop may. */
export async function pushAndLose({ phone, latest, clock }: Station): Promise<void> {
  await phone.pushFile('File', 'a', Buffer.from('hello'))
  // Else the next push of it would count as the same one.
  clock.advance(REPEAT_PUSH_MS)
  const blob = latest.binary?.blob
  if (blob !== undefined && 'discard' in blob && typeof blob.discard === 'function')
    await blob.discard()
}

/** The pipeline finds no room for the item. */
export function fillDisk({ latest }: Station): void {
  latest.put = () => Promise.reject(new DomainError('NO_SPACE', 'Cannot keep the item'))
}
