import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parseTables } from './support/markdown-tables.ts'

const ROOT = new URL('../../', import.meta.url)

/** Sections that bind clients, not the gateway, or say only what others say. */
const WITHOUT_TESTS = [
  'The protocol',
  'Every request',
  'The clipboard document',
  'Files',
  'Connect link',
  'Behind a proxy',
  'Duties of clients',
  'Versions',
]

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

interface Section {
  readonly name: string
  /** In one line. */
  readonly text: string
  /** The items of its lists, each in one line. */
  readonly items: readonly string[]
}

const sections: readonly Section[] = read('docs/protocol.md')
  .split(/^#+ /m)
  .slice(1)
  .map((part) => {
    const [name = '', ...lines] = part.split('\n')
    const items = lines.join('\n').matchAll(/^\* (?!\[)[^]*?(?=\n(?:\n|\* |$))/gm)
    return {
      name: name.trim(),
      text: inOneLine(lines.join('\n')),
      items: [...items].map(([item]) => inOneLine(item)),
    }
  })

const rows = parseTables(read('docs/rules.md')).flatMap((table) => table.rows)

describe('docs/rules.md', () => {
  it('says rules as docs/protocol.md does', () => {
    const unknown = rows.filter(
      ([name, rule = '']) => !sections.some((one) => one.name === name && one.text.includes(rule)),
    )
    assert.deepEqual(unknown, [])
  })

  it('names tests that exist', () => {
    const missing = rows.filter(([, , file = '', sentence = '']) => {
      const path = `test/${file.replaceAll('`', '')}`
      const found = [`${path}.test.ts`, `${path}.ts`].find((name) =>
        existsSync(new URL(name, ROOT)),
      )
      return (
        found === undefined || !namesOfTests(read(found)).some((name) => name.includes(sentence))
      )
    })
    assert.deepEqual(missing, [])
  })

  it('has a test for each section, and for each item of a list', () => {
    const rulesOf = (name: string) =>
      rows.flatMap(([own, rule = '']) => (own === name ? [rule] : []))
    const checked = sections.filter(({ name }) => !WITHOUT_TESTS.includes(name))
    const bare = checked.filter(({ name }) => rulesOf(name).length === 0).map(({ name }) => name)
    assert.deepEqual(bare, [])
    const open = checked.flatMap(({ name, items }) =>
      items.filter((item) => !rulesOf(name).some((rule) => item.includes(rule))),
    )
    assert.deepEqual(open, [])
  })
})

/** What `describe` and `it` are given, as it stands there. */
function namesOfTests(source: string): readonly string[] {
  const calls = source.matchAll(/\b(?:describe|it)\(\s*(['"`])(.*?)\1,\s/g)
  return [...calls].map(([, , name = '']) => name)
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
