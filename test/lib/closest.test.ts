import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closest } from '../../src/lib/closest.ts'

const KNOWN = ['serve', 'pair', 'pull', 'push', 'status', 'stop', 'max-file-bytes', 'json']

describe('closest()', () => {
  for (const [word, meant] of [
    ['psuh', 'push'],
    ['staus', 'status'],
    ['stauts', 'status'],
    ['serv', 'serve'],
    ['maxfilebytes', 'max-file-bytes'],
    ['max-file', 'max-file-bytes'],
    ['json', 'json'],
    ['nonsense', undefined],
    ['x', undefined],
    ['', undefined],
  ] as const) {
    it(`takes "${word}" for ${meant ?? 'nothing'}`, () => {
      assert.equal(closest(word, KNOWN), meant)
    })
  }
})
