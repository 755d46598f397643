/**
 * Requests for the probes of docs/openapi.yaml.
 * @module
 */

import { casesOf, withHead, type Case } from './case.ts'
import { pushImage } from './file-cases.ts'

const TWO_MANY = { options: { maxMetadataBytes: 1 }, request: { body: '<>' } }

/** Credentials that nobody looks at. */
const NONSENSE = {
  request: { isAnonymous: true, fields: ['Authorization: nonsense', 'Authorization: twice'] },
}

export const PROBE_CASES: readonly Case[] = [
  ...withHead([
    ...casesOf('getHealth', [
      [204, 'at once'],
      [204, 'to credentials that nobody looks at', NONSENSE],
    ]),
    ...['Root', 'Time', 'Version', 'VersionAlias', 'Folder'].flatMap((name) =>
      casesOf(`get${name}`, [[200, 'to a device']]),
    ),
  ]),
  ...casesOf('getRootOptions', [[204, 'with the methods']]),
  ...casesOf('deleteFolder', [[200, 'and deletes nothing', { given: pushImage }]]),
  ...['Root', 'Folder'].flatMap((place) => [
    ...casesOf(`propfind${place}`, [
      [207, 'with the folders', { request: { body: '<propfind/>' } }],
      ['BODY_TOO_LARGE', 'with a long body', TWO_MANY],
    ]),
    ...casesOf(`mkcol${place}`, [
      [201, 'without a body'],
      ['BODY_TOO_LARGE', 'with a long body', TWO_MANY],
    ]),
  ]),
]
