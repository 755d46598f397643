import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { chooseFiles, nameOf, TABLES } from '../../bench/support/choose-files.ts'

const KNOWN = ['auth', 'growth', 'requests']

describe('chooseFiles()', () => {
  it('takes a name, a path, or several, each once', () => {
    const one = { name: 'auth', files: ['auth'] }
    assert.deepEqual(chooseFiles(['auth'], KNOWN), one)
    assert.deepEqual(chooseFiles(['bench/auth.bench.ts'], KNOWN), one)
    assert.deepEqual(chooseFiles(['growth', 'bench/auth.bench.ts', 'growth'], KNOWN), {
      name: 'growth+auth',
      files: ['growth', 'auth'],
    })
  })

  it('is the tables unless told, and everything only by name', () => {
    assert.deepEqual(chooseFiles([], KNOWN), { name: 'tables', files: TABLES })
    assert.deepEqual(chooseFiles(['all'], KNOWN), { name: 'latest', files: KNOWN })
  })

  it('says which there are when one is not', () => {
    assert.throws(() => chooseFiles(['auht'], KNOWN), /"auht"; there are all, auth, growth/)
  })
})

it('the tables are of files that there are', () => {
  const known = readdirSync(new URL('../../bench/', import.meta.url)).map(nameOf)
  assert.deepEqual(
    TABLES.filter((name) => !known.includes(name)),
    [],
  )
})
