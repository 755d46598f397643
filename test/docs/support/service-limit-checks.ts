/**
 * The service document's tables of errors and limits, row by row.
 *
 * @module
 */

import assert from 'node:assert/strict'
import {
  GIB,
  HEARTBEAT_MS,
  MAX_FILE_BYTES,
  MAX_METADATA_BYTES,
  MAX_STREAMS_PER_DEVICE,
  MIB,
} from '../../../src/core/limits.ts'
import { isUsername } from '../../../src/devices/credential-rules.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createPasswordHasher } from '../../../src/devices/password-hasher.ts'
import { formatConnectLink } from '../../../src/link/connect-link.ts'
import { declare } from './binary-rows.ts'
import { codeIn } from './answer-check.ts'
import { openEvents, thirdStream } from './service-behaviour-checks.ts'
import { refuses } from './service-link-checks.ts'
import type { RowCheck, TableChecks } from './row-check.ts'
import { openStation, type Station } from './station.ts'

const MULTIPART = 'multipart/form-data; boundary=x'

const LARGE_UPLOAD =
  'Upload larger than 10 GiB (PUT /file/{dataName}, multipart POST /api/history) | ' +
  'Rejected by the hard cap; the status code is not shown here, see Limits.'

const NO_LOGIN =
  'Missing or invalid Basic credentials on a protected endpoint | ' +
  'Request rejected; 401 when credentials are absent.'

const ERRORS: TableChecks = {
  section: 'Errors',
  columns: ['Condition', 'Result'],
  rows: {
    'PUT /Sync.json body cannot be decoded | 400 Bad Request.': async (t) => {
      const { ask } = await openStation(t)
      for (const body of [
        '',
        '{',
        '[]',
        '{"type":"Movie"}',
        '{"type":"Text","text":1}',
        '"\xff"',
      ]) {
        assert.equal((await ask({ method: 'PUT', target: '/Sync.json', body })).status, 400, body)
      }
    },
    'PUT /Sync.json metadata body larger than 16 MiB | 413 Payload Too Large.': async (t) => {
      const at = await openStation(t)
      await assertBoundary(at, 16 * MIB, 'PUT', '/Sync.json', 'application/json')
    },
    [LARGE_UPLOAD]: fileCap,
    [NO_LOGIN]: async (t) => {
      const { ask, url, device } = await openStation(t)
      const absent = await ask({ method: 'GET', target: '/Sync.json', isAnonymous: true })
      assert.equal(absent.status, 401)
      for (const credentials of [`${device.username}:wrong`, 'nobody:wrong', ':', '']) {
        const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
        assert.equal((await fetch(`${url}/Sync.json`, { headers: { authorization } })).status, 401)
      }
    },
    'GET /healthz on a server lacking the extension | 404; the client falls back to other probes.':
      async (t) => {
        // A server without it does what ours does about other paths; the other probes are there.
        const { ask } = await openStation(t)
        assert.equal((await ask({ method: 'GET', target: '/healthy' })).status, 404)
        for (const target of ['/', '/api/time', '/Sync.json']) {
          assert.equal((await ask({ method: 'GET', target })).status, 200)
        }
      },
    'Connect link parsing failure | Client-side codes below.': refuses(
      'INVALID_SCHEME',
      'http://host/',
    ),
  },
}

const LIMITS: TableChecks = {
  section: 'Limits',
  columns: ['Limit', 'Value'],
  rows: {
    'Uploaded file size | 10 GiB per file (hard cap)': async (t, cells) => {
      assert.equal(MAX_FILE_BYTES, 10 * GIB)
      await fileCap(t, cells)
    },
    'Metadata-only request size | 16 MiB': async (t) => {
      assert.equal(MAX_METADATA_BYTES, 16 * MIB)
      const at = await openStation(t)
      await assertBoundary(at, 16 * MIB, 'PUT', '/Sync.json', 'application/json')
      await assertBoundary(
        at,
        16 * MIB,
        'POST',
        '/api/history',
        'application/x-www-form-urlencoded',
      )
    },
    'Event streams per device | 2': async (t, cells) => {
      assert.equal(MAX_STREAMS_PER_DEVICE, 2)
      await thirdStream(t, cells)
    },
    'Heartbeat interval | 25 seconds': async (t) => {
      assert.equal(HEARTBEAT_MS, 25_000)
      const at = await openStation(t)
      const stream = await openEvents(at)
      at.clock.advance(24_999)
      await at.phone.pushText('hello')
      await stream.untilEvent('update')
      assert.ok(!stream.answer.body.includes(': ping'), 'too early')
      at.clock.advance(1)
      await stream.until((text) => text.includes(': ping\n\n'))
      stream.close()
    },
    'Connect link length | at most 800 characters': () => {
      const format = (length: number): string =>
        formatConnectLink({ url: 'http://host', user: 'mobile', pwd: 'x'.repeat(length) })
      const lengths = Array.from({ length: 600 }, (_, length) => length + 1)
      const longest = lengths.findLast((length) => !isRefused(() => format(length))) ?? 0
      assert.ok(
        format(longest).length > 796 && format(longest).length <= 800,
        'four characters for three bytes',
      )
      assert.throws(() => format(longest + 1), { code: 'LINK_TOO_LONG' })
    },
    'Username length | 6 to 32 characters': async (t) => {
      const { devices } = await openStation(t)
      for (const [length, fits] of [
        [5, false],
        [6, true],
        [32, true],
        [33, false],
      ] as const) {
        const username = 'a'.repeat(length)
        assert.equal(isUsername(username), fits)
        if (fits)
          assert.equal((await devices.add({ kind: 'phone', username })).device.username, username)
        else
          await assert.rejects(devices.add({ kind: 'phone', username }), {
            code: 'USERNAME_INVALID',
          })
      }
    },
    'Password hash cost | memory 64 MB, 3 iterations, parallelism 4': async (t) => {
      const hasher = createPasswordHasher({ clock: systemClock })
      t.after(() => hasher.close())
      const hash = await hasher.hashPassword('correct-horse-battery')
      assert.match(hash, /^\$argon2id\$v=19\$m=65536,t=3,p=4\$/)
    },
  },
}

export const SERVICE_LIMIT_CHECKS: readonly TableChecks[] = [ERRORS, LIMITS]

async function fileCap(...[t]: Parameters<RowCheck>): Promise<void> {
  const at = await openStation(t)
  await assertBoundary(at, 10 * GIB, 'PUT', '/file/a', 'a/b')
  // Fields have their own room beside the file.
  await assertBoundary(at, 10 * GIB + 16 * MIB, 'POST', '/api/history', MULTIPART)
  const small = await openStation(t, { maxFileBytes: 4 })
  const body = `--x\r\nContent-Disposition: form-data; name="data"\r\n\r\nhello\r\n--x--\r\n`
  const fields = [`Content-Type: ${MULTIPART}`]
  const answer = await small.ask({ method: 'POST', target: '/api/history', fields, body })
  assert.equal(answer.status, 413)
  assert.equal(codeIn(answer), 'FILE_TOO_LARGE')
  assert.equal(small.blobs.count, 0, 'nothing is left')
}

/** So many bytes are welcome, and one more is not. */
async function assertBoundary(
  at: Station,
  bytes: number,
  method: string,
  target: string,
  type: string,
): Promise<void> {
  assert.equal((await declare(at, bytes, method, target, type)).status, 100)
  const refused = await declare(at, bytes + 1, method, target, type)
  assert.equal(refused.status, 413)
  assert.equal(codeIn(refused), 'BODY_TOO_LARGE')
}

function isRefused(run: () => void): boolean {
  try {
    run()
    return false
  } catch {
    // The caller asks only whether.
    return true
  }
}
