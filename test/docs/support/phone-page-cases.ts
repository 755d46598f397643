/**
 * Requests for the phone page of docs/openapi.yaml, and by its tickets.
 * @module
 */

import { secondHalf } from '../../../src/daemon/computer-id.ts'
import { createAuthority } from '../../../src/tls/authority.ts'
import { trustFiles } from '../../../src/tls/trust-page.ts'
import { zipOf } from '../../support/make-zip.ts'
import { casesOf, withFields, withHead, type Case, type CaseOf } from './case.ts'
import { downloadCases, pushImage } from './file-cases.ts'
import type { Station } from './station.ts'

const OFF: CaseOf = { options: { phonePage: false } }

/** The codes of checks that come after that of the ticket. */
const LATER: readonly unknown[] = ['UNSUPPORTED_ENCODING', 'EXPECTATION_FAILED']

/** The case, with a good ticket where it needs one. */
export function withTicket(one: Case): Case {
  const isTicketWanted = one.operation.endsWith('ByTicket') && LATER.includes(one.code)
  return isTicketWanted ? { ...one, given: pushImage, ...BY_TICKET } : one
}

/** Sends the request by a ticket of the image that is there. */
const BY_TICKET: CaseOf = {
  exchange: async (at, request) => {
    const given = await at.ask({ method: 'POST', target: '/phone/tickets' })
    const { path = request.target } = given.status === 200 ? JSON.parse(given.body) : {}
    const [, member] = request.target.split('?')
    const target = member === undefined ? path : `${path}?${member}`
    return at.ask({ ...request, target, isAnonymous: true })
  },
}

async function pushTwo({ phone }: Station): Promise<void> {
  await phone.pushText('the first')
  await phone.pushText('the second')
}

const RECENT: CaseOf = { given: pushTwo, params: { id: '1' } }

function pushGroup({ phone }: Station): Promise<void> {
  return phone.pushFile('Group', 'two.zip', zipOf({ name: 'a' }, { name: 'b/c' }))
}

const { cert } = createAuthority('clipgate', ['10.0.0.0/8'], Date.now())

const trust = trustFiles({ cert, fingerprint: '', urls: () => [] }, undefined)

const TRUSTED: CaseOf = {
  options: { trust: (path, { host }) => trust(path, { isSecure: true, host }) },
  request: { isAnonymous: true },
}

const KNOWN: CaseOf = {
  options: { trust: (path) => secondHalf('12', path) },
  request: { isAnonymous: true },
  params: { name: '1' },
}

export const PHONE_PAGE_CASES: readonly Case[] = [
  ...withHead([
    ...casesOf('getPhonePage', [
      [200, 'to anybody', { request: { isAnonymous: true } }],
      [304, 'to a browser that has it', withFields('If-None-Match: *')],
      ['NOT_FOUND', 'where it is switched off', OFF],
    ]),
    ...casesOf('getTrustPage', [
      [200, 'to anybody', TRUSTED],
      ['NOT_FOUND', 'where there is nothing to trust'],
    ]),
    ...casesOf('getTrustFile', [
      [200, 'with the page for a test', TRUSTED],
      [200, 'with the certificate', { ...TRUSTED, params: { name: 'clipgate.crt' } }],
      [200, 'with the profile', { ...TRUSTED, params: { name: 'clipgate.mobileconfig' } }],
      [200, 'with half an id', KNOWN],
      ['NOT_FOUND', 'where there is none of that name', { ...TRUSTED, params: { name: 'x' } }],
    ]),
    ...downloadCases('getByTicket').map((one) => ({ ...one, ...BY_TICKET })),
    ...casesOf('getByTicket', [
      [200, 'with a file of a group', { given: pushGroup, suffix: '?member=2', ...BY_TICKET }],
    ]),
  ]),
  ...withHead([
    ...casesOf('getPhoneState', [
      [200, 'with the recent items', { given: pushTwo }],
      ['NOT_FOUND', 'where the page is switched off', OFF],
    ]),
    ...casesOf('getRecentText', [
      [200, 'that is in the list', RECENT],
      [206, 'with a part', { ...RECENT, ...withFields('Range: bytes=1-2') }],
      [
        'RANGE_NOT_SATISFIABLE',
        'to a range behind the end',
        { ...RECENT, ...withFields('Range: bytes=99-') },
      ],
      ['NOT_FOUND', 'that is not', { params: { id: '1' } }],
    ]),
  ]),
  ...casesOf('postTicket', [
    [200, 'while there are bytes', { given: pushImage }],
    [200, 'with the files of a group', { given: pushGroup }],
    ['NOT_FOUND', 'while there are none'],
  ]),
]
