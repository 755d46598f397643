import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { parseTables } from './support/markdown-tables.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

it('docs/SECURITY.md names each path that is answered without a login', () => {
  const [, exceptions = ''] = /Every request needs([^.]*)\./.exec(read('SECURITY.md')) ?? []
  const named = [...exceptions.matchAll(/`(\/[\w/]+)`/g)].map(([, path]) => path)
  // That these are the endpoints, and what each asks for, other tests compare with the program.
  const rows = parseTables(read('protocol.md')).flatMap(({ section, rows }) =>
    section === 'Endpoints' ? rows : [],
  )
  const open = rows.filter(([, , credentials]) => credentials === 'none').map(([path = '']) => path)
  const first = open.map((paths) => /^`(\/[\w/]*\w)/.exec(paths)?.[1])
  assert.deepEqual(named.sort(), first.sort())
})
