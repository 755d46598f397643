/**
 * Whether answers arrive as the gateway gave them: errors, paths, encodings, parts of files, time.
 *
 * @module
 */

import { TOLERANCE_MS } from '../check-clock.ts'
import { fine, hint, problem, type Finding } from '../finding.ts'
import { ask, describeAnswer, parseJson, problemCode } from './ask.ts'
import type { LoggedIn } from './visit.ts'

/** No route, and not one of the proxy either. */
const NOWHERE = '/clipgate-doctor/nowhere'

/** One of the addresses that are kept for documentation (RFC 5737): nobody's. */
const SPOOFED = '203.0.113.7'

/** Clients read the codes in the bodies of refusals. */
export async function checkErrors({ target, login }: LoggedIn): Promise<Finding> {
  const refused = await ask(target, { path: NOWHERE })
  const missing = await ask(target, { path: NOWHERE, login: login.header })
  if (problemCode(refused) === 'UNAUTHORIZED' && problemCode(missing) === 'NOT_FOUND') {
    return fine('errors', 'refusals arrive as the gateway words them')
  }
  const fix =
    'no error pages of the proxy here: proxy_intercept_errors off, no error_page, no handle_errors'
  return problem(
    'errors',
    `the proxy replaces refusals by its own: ${describeAnswer(missing)}`,
    fix,
  )
}

/** `%2F` in a name is no folder, and `//` occurs in the wild. Counts on {@link checkErrors}. */
export async function checkPaths({ target, login }: LoggedIn): Promise<Finding> {
  const slash = await ask(target, { path: '/file/a%2Fb', login: login.header })
  const double = await ask(target, { path: '//api//version', login: login.header })
  const dots = await ask(target, { path: '/file/../api/version', login: login.header })
  const changed = [
    ...(problemCode(slash) === 'BAD_NAME' ? [] : ['%2F']),
    ...(double.status === 200 ? [] : ['//']),
    ...(dots.status === 404 ? [] : ['/../']),
  ]
  if (changed.length === 0) return fine('paths', 'paths arrive as they were sent')
  const fix =
    'proxy_pass without a path behind the address; in Apache AllowEncodedSlashes NoDecode, nocanon'
  return problem('paths', `the proxy changes or refuses paths with ${changed.join(', ')}`, fix)
}

export async function checkCompression({ target, login }: LoggedIn): Promise<Finding> {
  const headers = { 'Accept-Encoding': 'gzip, deflate, br, zstd' }
  const { headers: got } = await ask(target, { path: '/Sync.json', login: login.header, headers })
  const coding = got['content-encoding']
  const { etag } = got
  if (coding === undefined && etag !== undefined && !etag.startsWith('W/')) {
    return fine('compression', 'answers are not compressed, and keep their ETag')
  }
  const what =
    coding !== undefined
      ? 'compresses answers'
      : `${etag === undefined ? 'removes' : 'weakens'} the ETag, as proxies do that change answers`
  const fix =
    'switch compression and rewriting off for this site: gzip off, no encode, no sub_filter'
  return problem(
    'compression',
    `the proxy ${what}: polling costs more, and downloads cannot go on where they stopped`,
    fix,
  )
}

/** Needs an item with bytes; nothing of it is shown, and one byte of it is fetched. */
export async function checkRange({ target, login }: LoggedIn): Promise<Finding> {
  const document = parseJson((await ask(target, { path: '/Sync.json', login: login.header })).text)
  const name = dataNameOf(document)
  if (name === undefined) {
    return fine('range', 'not checked: what is on the clipboard is no image or file')
  }
  const path = `/file/${encodeURIComponent(name)}`
  const answer = await ask(target, { path, login: login.header, headers: { Range: 'bytes=0-0' } })
  if (answer.status === 206 && answer.text.length > 0) return fine('range', 'parts of files arrive')
  // An empty file has no first byte, and an item may be replaced meanwhile.
  if (answer.status === 416 || answer.status === 404) {
    return fine('range', 'not checked: the file is empty, or was replaced meanwhile')
  }
  const fix =
    'have the proxy pass Range on: no proxy_force_ranges, no slice, no proxy_set_header Range'
  return problem(
    'range',
    `a part of a file gets ${describeAnswer(answer)}, and not 206: broken downloads start over`,
    fix,
  )
}

function dataNameOf(document: unknown): string | undefined {
  if (typeof document !== 'object' || document === null) return undefined
  const hasData = 'hasData' in document && document.hasData === true
  if (!hasData || !('dataName' in document)) return undefined
  const { dataName } = document
  return typeof dataName === 'string' && dataName.isWellFormed() && dataName !== ''
    ? dataName
    : undefined
}

export async function checkTime({ target, login }: LoggedIn): Promise<Finding> {
  const before = Date.now()
  const answer = await ask(target, { path: '/api/time', login: login.header })
  const after = Date.now()
  const value = parseJson(answer.text)
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time)) {
    const fix = 'have the proxy pass all paths as they are'
    return problem('server-clock', `/api/time says ${describeAnswer(answer)}, and no time`, fix)
  }
  const offMs = Math.max(0, before - time, time - after)
  const seconds = `${Math.round(offMs / 1000)} s`
  if (offMs <= TOLERANCE_MS)
    return fine(
      'server-clock',
      offMs < 1000 ? 'agrees with the clock here' : `${seconds} off the clock here`,
    )
  const fix = 'set both clocks by the network: sudo timedatectl set-ntp true'
  return problem(
    'server-clock',
    `${seconds} off the clock here: clients that synchronise histories drop what they take for old`,
    fix,
  )
}

/** Whom the gateway believes to talk to. Only the daemon can tell, so this needs a local one. */
export async function checkClientAddress({ target, login }: LoggedIn): Promise<Finding> {
  if (login.borrowed === undefined) {
    return fine('client-address', 'not checked: only the daemon can tell, and none was asked')
  }
  const { id, admin } = login.borrowed
  const headers = { 'X-Forwarded-For': SPOOFED, Forwarded: `for=${SPOOFED}` }
  await ask(target, { path: '/api/version', login: login.header, headers })
  const seen = (await admin.devices()).find((device) => device.id === id)?.lastSeenAddress
  if (seen !== SPOOFED)
    return fine(
      'client-address',
      `the daemon saw ${seen ?? 'no address'}, and not what a client may claim`,
    )
  const fix =
    'have the proxy replace X-Forwarded-For: proxy_set_header X-Forwarded-For $remote_addr'
  return problem(
    'client-address',
    'a client can claim any address: the proxy passes X-Forwarded-For on as it came',
    fix,
  )
}

/** Refused for its origin, or else for its body: nothing is stored either way. */
export async function checkOrigin({ target, login }: LoggedIn): Promise<Finding> {
  const { origin } = target.base
  const answer = await ask(target, {
    method: 'PUT',
    path: '/Sync.json',
    login: login.header,
    headers: { Origin: origin, 'Content-Type': 'application/json' },
    body: Buffer.from('no JSON, so that nothing is stored'),
  })
  if (answer.status !== 403) return fine('origin', 'web pages of this address may use it')
  const fix = `set --public-url ${origin}, and have the proxy keep Host`
  return hint(
    'origin',
    'web apps at this address are refused, as pages of a stranger; phone apps are not',
    fix,
  )
}
