/**
 * The service document's tables about the connect link, row by row.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { formatConnectLink, parseConnectLink } from '../../../src/link/connect-link.ts'
import type { RowCheck, TableChecks } from './row-check.ts'

const PAYLOAD = {
  url: 'http://192.168.1.20:42720',
  user: 'mobile_1a2b3c4d',
  pwd: 'correct-horse-battery',
}

const LINK = formatConnectLink({ ...PAYLOAD, o: { label: 'Phone', did: 'did_1' } })

/** Shows that links with these faults are refused with this code, and sound ones are not. */
export function refuses(code: string, ...links: readonly string[]): RowCheck {
  return () => {
    assert.equal(parseConnectLink(LINK).url, PAYLOAD.url)
    for (const link of links)
      assert.throws(() => parseConnectLink(link), { name: 'LinkError', code }, link)
  }
}

/** A link with another payload. */
export function withPayload(payload: object): string {
  return withQuery({ p: Buffer.from(JSON.stringify(payload)).toString('base64url') })
}

/** A link whose query says something else; `undefined` leaves it out. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const query = { ...Object.fromEntries(new URL(LINK).searchParams), ...changes }
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  return `clip://connect?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`
}

const full = { v: 1, ...PAYLOAD }

const without = (name: string): string => withPayload({ ...full, [name]: undefined })

const ANOTHER_SCHEME = LINK.replace('clip:', 'https:')

export const SERVICE_LINK_CHECKS: readonly TableChecks[] = [
  {
    section: 'Connect link (client onboarding)',
    columns: ['Component'],
    rows: {
      Scheme: refuses('INVALID_SCHEME', ANOTHER_SCHEME, LINK.replace('clip:', 'clips:')),
      Host: refuses('INVALID_SCHEME', LINK.replace('connect?', 'konnect?')),
      'Query v': refuses('UNSUPPORTED_VERSION', withQuery({ v: '2' }), withQuery({ v: '1.0' })),
      'Query svc': refuses('UNSUPPORTED_SERVICE', withQuery({ svc: 'other' })),
      'Query p': () => {
        const p = new URL(LINK).searchParams.get('p') ?? ''
        assert.match(p, /^[A-Za-z0-9_-]+$/, 'base64url, no padding')
        const json = Buffer.from(p, 'base64url').toString()
        // Minified, in this order, with the keys of `o` in theirs.
        assert.equal(json, JSON.stringify({ ...full, o: { did: 'did_1', label: 'Phone' } }))
      },
    },
  },
  {
    section: 'Payload object',
    columns: ['Field', 'Type', 'Required'],
    rows: {
      'v | integer | yes': refuses(
        'UNSUPPORTED_VERSION',
        without('v'),
        withPayload({ ...full, v: '1' }),
      ),
      'url | string | yes': (t, cells) => {
        refuses('MISSING_FIELD', without('url'), withPayload({ ...full, url: 1 }))(t, cells)
        refuses('INVALID_URL', withPayload({ ...full, url: 'ftp://host' }))(t, cells)
        assert.equal(
          parseConnectLink(formatConnectLink({ ...PAYLOAD, url: 'https://host/' })).url,
          'https://host',
        )
      },
      'user | string | yes': (t, cells) => {
        refuses('MISSING_FIELD', without('user'), withPayload({ ...full, user: '' }))(t, cells)
        assert.throws(() => formatConnectLink({ ...PAYLOAD, user: '1abcdef' }), {
          code: 'USERNAME_INVALID',
        })
      },
      'pwd | string | yes': (t, cells) => {
        refuses('MISSING_FIELD', without('pwd'), withPayload({ ...full, pwd: [] }))(t, cells)
        const pwd = 'pässwört "\\ 🔑'
        assert.equal(parseConnectLink(formatConnectLink({ ...PAYLOAD, pwd })).pwd, pwd)
      },
      'o | object of string to string | no': () => {
        assert.equal(parseConnectLink(formatConnectLink(PAYLOAD)).o, undefined)
        assert.deepEqual(parseConnectLink(LINK).o, { did: 'did_1', label: 'Phone' })
        assert.equal(parseConnectLink(withPayload({ ...full, o: { new: 'key' } })).url, PAYLOAD.url)
      },
    },
  },
  {
    section: 'Interoperability vectors (shapes)',
    columns: ['Input shape', 'Error'],
    rows: {
      'An https:// URL instead of the clip scheme | INVALID_SCHEME': refuses(
        'INVALID_SCHEME',
        ANOTHER_SCHEME,
      ),
      'Query v=2 | UNSUPPORTED_VERSION': refuses('UNSUPPORTED_VERSION', withQuery({ v: '2' })),
      'Query svc other than mobile-sync | UNSUPPORTED_SERVICE': refuses(
        'UNSUPPORTED_SERVICE',
        withQuery({ svc: 'desktop-sync' }),
      ),
      'p containing characters outside the base64url alphabet | PAYLOAD_DECODE_FAILED': refuses(
        'PAYLOAD_DECODE_FAILED',
        ...['%21', '.', '/', '%2B'].map((odd) => withQuery({ p: `e${odd}30` })),
      ),
      'Payload without pwd | MISSING_FIELD': refuses('MISSING_FIELD', without('pwd')),
      'Payload url with scheme ftp | INVALID_URL': refuses(
        'INVALID_URL',
        withPayload({ ...full, url: 'ftp://host' }),
      ),
    },
  },
  {
    section: 'Errors',
    columns: ['Code'],
    rows: {
      INVALID_SCHEME: refuses(
        'INVALID_SCHEME',
        ANOTHER_SCHEME,
        'clip://other?v=1',
        'not a link',
        '',
      ),
      UNSUPPORTED_VERSION: refuses(
        'UNSUPPORTED_VERSION',
        ...[undefined, 'one', '2'].map((v) => withQuery({ v })),
        withPayload({ ...full, v: 2 }),
      ),
      UNSUPPORTED_SERVICE: refuses('UNSUPPORTED_SERVICE', withQuery({ svc: undefined })),
      PAYLOAD_DECODE_FAILED: refuses(
        'PAYLOAD_DECODE_FAILED',
        ...[undefined, '', '!', Buffer.from('{').toString('base64url')].map((p) =>
          withQuery({ p }),
        ),
      ),
      MISSING_FIELD: refuses(
        'MISSING_FIELD',
        ...['url', 'user', 'pwd'].flatMap((name) => [
          without(name),
          withPayload({ ...full, [name]: '' }),
        ]),
      ),
      INVALID_URL: refuses(
        'INVALID_URL',
        ...['ftp://host', 'host', 'file:///x'].map((url) => withPayload({ ...full, url })),
      ),
    },
  },
]
