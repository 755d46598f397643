import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readReference, REFERENCE } from './support/reference.ts'

describe('what the pages say of commands and settings', () => {
  for (const name of Object.keys(REFERENCE)) {
    it(`docs/${name} says as the help of the program does ("make reference" writes it)`, () => {
      const { page, expected } = readReference(name)
      assert.ok(expected.includes(REFERENCE[name] ?? ''), 'the marks are there')
      assert.equal(page, expected)
    })
  }
})
