/**
 * Requests for the probes of docs/openapi.yaml.
 * @module
 */

import { failure, success, withHead, type Case } from './case.ts'

const TWO_MANY = { options: { maxMetadataBytes: 1 }, request: { body: '<>' } }

export const PROBE_CASES: readonly Case[] = [
  ...withHead([
    success('getHealth', 204, 'at once'),
    success('getHealth', 204, 'to credentials that nobody looks at', {
      request: { isAnonymous: true, fields: ['Authorization: nonsense', 'Authorization: twice'] },
    }),
    success('getRoot', 200, 'to a device'),
    success('getTime', 200, 'to a device'),
    success('getVersion', 200, 'to a device'),
    success('getVersionAlias', 200, 'to a device'),
    success('getFolder', 200, 'to a device'),
  ]),
  success('getRootOptions', 204, 'with the methods'),
  success('deleteFolder', 200, 'and deletes nothing', {
    given: ({ phone }) => phone.pushFile('File', 'kept', Buffer.from('kept')),
  }),
  ...['Root', 'Folder'].flatMap((place) => [
    success(`propfind${place}`, 200, 'without a body', { request: { body: '<propfind/>' } }),
    failure(`propfind${place}`, 'BODY_TOO_LARGE', 'with a long body', TWO_MANY),
    success(`mkcol${place}`, 201, 'without a body'),
    failure(`mkcol${place}`, 'BODY_TOO_LARGE', 'with a long body', TWO_MANY),
  ]),
]
