import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRules, readSections } from './support/protocol-rules.ts'

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

describe('the rules of docs/protocol.md', () => {
  const sections = readSections()
  const rules = readRules(sections)

  it('are named by tests as the page has them, in one section', () => {
    assert.ok(rules.length > 200, 'marks are found')
    assert.deepEqual(
      rules.filter((rule) => rule.sections.length !== 1),
      [],
    )
  })

  it('are named right above a test', () => {
    assert.deepEqual(
      rules.filter(({ test }) => test === undefined),
      [],
    )
  })

  it('have a test for each section, and for each item of a list', () => {
    const wordsOf = (name: string) =>
      rules.flatMap((rule) => (rule.sections.includes(name) ? [rule.words] : []))
    const checked = sections.filter(({ name }) => !WITHOUT_TESTS.includes(name))
    const bare = checked.filter(({ name }) => wordsOf(name).length === 0).map(({ name }) => name)
    assert.deepEqual(bare, [])
    const open = checked.flatMap(({ name, items }) =>
      items.filter((item) => !wordsOf(name).some((words) => item.includes(words))),
    )
    assert.deepEqual(open, [])
  })
})
