import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { it } from 'node:test'

const TESTS = new URL('../', import.meta.url)
const page = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8')
const named = [...page.matchAll(/`([a-z]+\/[a-z0-9-]+)`/g)].map(([, name = '']) => name)

it('docs/reliability.md names tests that exist', () => {
  assert.notEqual(named.length, 0)
  const missing = named.filter((name) => !existsSync(new URL(`${name}.test.ts`, TESTS)))
  assert.deepEqual(missing, [])
})

it('docs/reliability.md names every test of a fault and of privacy', () => {
  const all = ['faults', 'privacy'].flatMap((folder) =>
    readdirSync(new URL(folder, TESTS))
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => `${folder}/${file.replace('.test.ts', '')}`),
  )
  assert.deepEqual(
    all.filter((name) => !named.includes(name)),
    [],
  )
})
