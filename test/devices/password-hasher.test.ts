import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PasswordHasher } from '../../src/devices/password-hasher.ts'
import { parsePhcString } from '../../src/devices/phc-string.ts'
import type { Place } from '../../src/devices/verification-queue.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { LOADER } from '../support/program.ts'
import { execute } from '../support/execute.ts'

const PLACE: Place = { lane: 'a', comesAgain: false }

/** Made by the reference implementation in C (the `argon2` command of Debian 12). */
const REFERENCE = {
  'correct horse battery staple':
    '$argon2id$v=19$m=65536,t=3,p=4$Y2xpcGdhdGUtMTZieXRlcw$2eVTs9FfyvYN9P4CF1nV0FiDmYwx6NBC1o8WkbOlKv0',
  'pässwörd 🔑 日本':
    '$argon2id$v=19$m=65536,t=3,p=4$Y2xpcGdhdGUtMTZieXRlcw$CLB35pQIKvIuShI06yh5cMdJL7ZZ4K1jsMauo5hstZA',
  password: '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
  'eight-chars':
    '$argon2id$v=19$m=32,t=1,p=4$c2l4dGVlbi1ieXRlLXNhbA$6gchSlWT34Yza0/fIS/zTWrGEmTsUjTRLSS2ThujGSo',
  'odd memory':
    '$argon2id$v=19$m=4099,t=2,p=3$c2l4dGVlbi1ieXRlLXNhbA$5jyj+eNfBnni33x8nV9uTZI8xgkQKigk',
}

function openHasher(t: TestContext, queue?: number): PasswordHasher {
  const hasher = new PasswordHasher({ clock: new FakeClock(), queue })
  t.after(() => hasher.close())
  return hasher
}

describe('verifyPassword()', () => {
  it('agrees with the reference implementation', async (t) => {
    const hasher = openHasher(t)
    for (const [password, hash] of Object.entries(REFERENCE)) {
      assert.equal(await hasher.verifyPassword(password, hash, PLACE), true, password)
    }
    assert.equal(await hasher.verifyPassword('Password', REFERENCE.password, PLACE), false)
  })

  it('says no to everything without a hash, and to nothing as a password', async (t) => {
    const hasher = openHasher(t)
    assert.equal(await hasher.verifyPassword('password', undefined, PLACE), false)
    assert.equal(await hasher.verifyPassword('', undefined, PLACE), false)
    assert.equal(await hasher.verifyPassword('', REFERENCE.password, PLACE), false)
    // What stands in for an empty password is none either.
    assert.equal(await hasher.verifyPassword('', await hasher.hashPassword('\0'), PLACE), false)
  })

  it('refuses a malformed hash without repeating it', async (t) => {
    const hasher = openHasher(t)
    await assert.rejects(hasher.verifyPassword('password', '$2b$10$abc', PLACE), (error: Error) => {
      assert.doesNotMatch(error.message, /abc|password"/)
      return error instanceof TypeError
    })
  })

  it('is busy when the queue is full, while a new password is still hashed', async (t) => {
    const hasher = openHasher(t, 0)
    const first = hasher.verifyPassword('password', undefined, PLACE)
    await assert.rejects(hasher.verifyPassword('password', undefined, PLACE), {
      code: 'VERIFIER_BUSY',
    })
    assert.match(await hasher.hashPassword('password'), /^\$argon2id\$/)
    assert.equal(await first, false)
  })
})

describe('hashPassword()', () => {
  // Protocol: only an Argon2id hash of the password
  it('hashes with the parameters of the contract, and a salt of its own each time', async (t) => {
    const hasher = openHasher(t)
    const hash = await hasher.hashPassword('correct horse')
    assert.match(hash, /^\$argon2id\$v=19\$m=65536,t=3,p=4\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    assert.equal(await hasher.verifyPassword('correct horse', hash, PLACE), true)
    const salt = parsePhcString(hash)?.salt
    assert.notDeepEqual(parsePhcString(await hasher.hashPassword('correct horse'))?.salt, salt)
  })
})

describe('a worker that ends', () => {
  it('gives its 64 MiB back', { skip: process.platform !== 'linux' }, async () => {
    const program = fileURLToPath(new URL('../support/hasher-memory.ts', import.meta.url))
    const { stdout } = await execute(process.execPath, [...LOADER, program])
    const { kept } = JSON.parse(stdout)
    assert.ok(kept <= 24, `${kept} MiB kept`)
  })
})
