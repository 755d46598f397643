import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { inspect } from 'node:util'
import { basic } from '../support/guarded-gateway.ts'
import { Search, secret, secretWord } from './support/secrets.ts'

const PLAIN = secret('password')

/** How programs write what they should not, each the way that it really happens. */
const LEAKS: Readonly<Record<string, () => string | Uint8Array>> = {
  'as it is': () => PLAIN,
  'in other letters': () => PLAIN.toUpperCase(),
  'in ISO 8859-1': () => Buffer.from(PLAIN, 'latin1'),
  'in UTF-16': () => Buffer.from(PLAIN, 'utf16le'),
  'in UTF-16, big end first': () => Buffer.from(PLAIN, 'utf16le').swap16(),
  'in hex': () => Buffer.from(PLAIN).toString('hex'),
  'in hex, in capitals': () => Buffer.from(PLAIN).toString('hex').toUpperCase(),
  'in base64': () => Buffer.from(PLAIN).toString('base64'),
  'in base64, one byte further': () => Buffer.from(`u${PLAIN}`).toString('base64'),
  'in base64, two bytes further': () => Buffer.from(`u:${PLAIN}`).toString('base64'),
  'in base64, in lines': () => Buffer.from(PLAIN).toString('base64').replace(/.{19}/g, '$&\r\n'),
  'in base64url': () => Buffer.from(PLAIN).toString('base64url'),
  'in base64url, one byte further': () => Buffer.from(`u${PLAIN}`).toString('base64url'),
  'in base64url, two bytes further': () => Buffer.from(`u:${PLAIN}`).toString('base64url'),
  'in base64, as credentials in base64': () => Buffer.from(basic('user', PLAIN)).toString('base64'),
  'in hex, as credentials in base64': () => Buffer.from(basic('user', PLAIN)).toString('hex'),
  'percent-encoded': () => encodeURIComponent(PLAIN),
  'percent-encoded to the last letter': () => spell(PLAIN, '%').toUpperCase(),
  'as a form': () => String(new URLSearchParams({ pwd: PLAIN })),
  'as JSON': () => JSON.stringify({ pwd: PLAIN }),
  'as JSON in JSON': () => JSON.stringify({ body: JSON.stringify({ pwd: PLAIN }) }),
  'escaped to the last letter': () => spell(PLAIN, '\\u00'),
  'as strace shows bytes': () => spell(PLAIN, '\\x'),
  'as our commands show characters': () =>
    [...PLAIN].map((letter) => `\\u{${letter.charCodeAt(0).toString(16)}}`).join(''),
  'as an inspected buffer': () => inspect(Buffer.from(PLAIN)),
  'as an inspected array of bytes': () => inspect(Uint8Array.from(Buffer.from(PLAIN))),
  'as a buffer in JSON': () => JSON.stringify(Buffer.from(PLAIN)),
  'as an inspected object': () => inspect({ deep: { pwd: PLAIN } }),
  'in an error of JSON.parse()': () =>
    messageOf(() => JSON.parse(`{"a":${secretWord('password')}}`)),
  'cut at both ends': () => PLAIN.slice(5, 24),
}

/** Spells each byte in hex. */
function spell(text: string, before: string): string {
  return [...Buffer.from(text)].map((byte) => before + byte.toString(16)).join('')
}

function messageOf(fail: () => unknown): string {
  try {
    fail()
  } catch (error) {
    return inspect(error)
  }
  throw new Error('It did not fail')
}

for (const [how, leak] of Object.entries(LEAKS)) {
  it(`the search for secrets finds one ${how}`, () => {
    const bytes = Buffer.from(leak())
    for (const around of [0, 1, 2, 1000]) {
      const noise = Buffer.concat([randomBytes(around), bytes, randomBytes(around)])
      const names = new Search().find(noise).map((finding) => finding.secret)
      assert.ok(names.includes('password'), `found: ${names.join()}`)
    }
  })
}

it('the search for secrets tells one secret from another', () => {
  const both = Buffer.from(`${secret('text')} ${Buffer.from(secret('label')).toString('base64')}`)
  const names = new Search().find(both).map((finding) => finding.secret)
  assert.deepEqual(new Set(names), new Set(['text', 'label']))
})

it('the search for secrets finds secrets that others have made', () => {
  const search = new Search()
  const token = randomBytes(32).toString('base64url')
  search.learn('token', token)
  for (const leak of [token, Buffer.from(`Bearer ${token}`).toString('base64')]) {
    const [finding] = search.find(Buffer.from(`x${leak}`))
    assert.equal(finding?.secret, 'token')
  }
})

it('the search for secrets finds nothing where nothing is', () => {
  const search = new Search()
  const noise = randomBytes(500_000)
  for (const spelling of ['latin1', 'base64', 'hex'] as const) {
    assert.deepEqual(search.find(Buffer.from(noise.toString(spelling), 'latin1')), [])
  }
})
