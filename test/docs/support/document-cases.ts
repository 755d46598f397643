/**
 * Requests for the document, in both dialects of docs/openapi.yaml.
 * @module
 */

import { DomainError } from '../../../src/core/domain-error.ts'
import { REPEAT_PUSH_MS } from '../../../src/core/limits.ts'
import { A_PART, failure, GROUP_TIME, success, withHead, type Case, type CaseOf } from './case.ts'
import type { Station } from './station.ts'

const MEMBER = { id: 'm_0123456789abcdef' }

/** The device of another daemon. */
const PEER = { username: 'another_daemon', password: 'password of a member' }

export const DOCUMENT_CASES: readonly Case[] = ['Sync', 'SyncClipboard'].flatMap((dialect) => [
  ...withHead(readingCases(`get${dialect}Document`)),
  ...pushingCases(`put${dialect}Document`),
])

function readingCases(id: string): readonly Case[] {
  return [
    success(id, 200, 'while there is no item'),
    success(id, 200, 'with a text', { given: ({ phone }) => phone.pushText('hallöchen') }),
    success(id, 200, 'with an image', {
      given: ({ phone }) => phone.pushFile('Image', 'a.png', Buffer.from('png')),
    }),
    success(id, 200, 'with a group', {
      given: ({ phone }) => phone.pushFile('Group', 'a.zip', Buffer.from('zip')),
    }),
    success(id, 200, 'to a phone that says what time it is', { request: { fields: [GROUP_TIME] } }),
    success(id, 304, 'to a client that has it', { request: { fields: ['If-None-Match: *'] } }),
    failure(id, 'PRECONDITION_FAILED', 'to a client that has another', {
      request: { fields: ['If-Match: "another"'] },
    }),
  ]
}

function pushingCases(id: string): readonly Case[] {
  return [
    success(
      id,
      200,
      'to a text',
      push({ type: 'Text', text: 'hello', hasData: false, size: 5, hash: 'aa' }),
    ),
    success(id, 200, 'to an empty text', push({ type: 'Text', text: '' })),
    success(
      id,
      200,
      'to nulls',
      push({ type: 'Text', text: 'a', hasData: null, dataName: null, contentId: null }),
    ),
    success(
      id,
      200,
      'to the stamp of a device that is no peer',
      push({
        type: 'Text',
        text: 'b',
        stampedAt: 1,
        stampedBy: 'm_0123456789abcdef',
        mediaType: 'text/plain',
      }),
    ),
    failure(id, 'STAMP_AHEAD', 'to a member whose stamp is too far ahead', {
      options: {
        member: { ...MEMBER, now: () => 0, learn: () => undefined, believes: () => false },
      },
      given: ({ devices }) => devices.add({ kind: 'peer', ...PEER }),
      request: {
        body: `{"type":"Text","text":"d","stampedAt":99999999999999,"stampedBy":"${MEMBER.id}"}`,
        fields: [
          'Content-Type: application/json',
          `Authorization: Basic ${Buffer.from(`${PEER.username}:${PEER.password}`).toString('base64')}`,
        ],
        isAnonymous: true,
      },
    }),
    success(id, 200, 'to a phone that says what time it is', {
      request: {
        body: '{"type":"Text","text":"c"}',
        fields: ['Content-Type: application/json', GROUP_TIME],
      },
    }),
    success(id, 200, 'to an old body', push({ type: 'Text', Clipboard: 'hello', File: '' })),
    success(id, 200, 'to a file that was uploaded', {
      ...push({ type: 'File', hasData: true, dataName: 'a' }),
      given: ({ phone }) => phone.fetch('/file/a', { method: 'PUT', body: 'hello' }),
    }),
    failure(id, 'BAD_BODY', 'to what is no document', push({ type: 'Movie' })),
    failure(id, 'BAD_BODY', 'to nothing but a type', push({ type: 'Text', txt: 'a', text: null })),
    failure(id, 'PARTIAL_BODY', 'to a part', {
      request: { body: '{"type":"Text","text":"c"}', fields: [A_PART] },
    }),
    failure(id, 'BAD_NAME', 'to a path', push({ type: 'File', dataName: '../etc/passwd' })),
    failure(id, 'INCOMPLETE_BODY', 'to a body that is cut off', {
      request: { body: '{"type":', cut: 'body' },
    }),
    failure(
      id,
      'NOTHING_STAGED',
      'when nothing was uploaded',
      push({ type: 'Image', dataName: 'a.png' }),
    ),
    failure(id, 'NOT_FOUND', 'when the bytes of a known item are gone', {
      ...push({ type: 'File', dataName: 'a' }),
      given: pushAndLose,
    }),
    failure(id, 'BODY_TOO_LARGE', 'to a long document', {
      ...push({ type: 'Text', text: 'hello' }),
      options: { maxMetadataBytes: 8 },
    }),
    failure(id, 'NO_SPACE', 'when the disk is full', {
      ...push({ type: 'Text', text: 'hello' }),
      given: fillDisk,
    }),
  ]
}

function push(document: object): CaseOf {
  return { request: { body: JSON.stringify(document), fields: ['Content-Type: application/json'] } }
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
