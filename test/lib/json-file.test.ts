import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineJsonFile, NewerVersionError } from '../../src/lib/atomic-file.ts'
import { decodeNumber, objectOf } from '../../src/lib/decoder.ts'

const file = defineJsonFile({
  version: 2,
  reads: [1, 2],
  decode: objectOf({ count: decodeNumber }),
})

it('a small file of ours is read as it was written, and as an earlier version wrote it', () => {
  assert.equal(file.format({ count: 3 }), '{"version":2,"count":3}\n')
  assert.deepEqual(file.parse(file.format({ count: 3 })), { count: 3 })
  assert.deepEqual(file.parse('{"version":1,"count":3}'), { count: 3 })
})

it('a small file of ours of a later version is refused as such', () => {
  assert.throws(() => file.parse('{"version":3}'), NewerVersionError)
})

it('a small file of ours that is damaged is refused, without a word of it', () => {
  const versions = ['0', '2', '"2"'].map((version) => `{"version":${version}}`)
  for (const text of ['', 'secret', '[]', '{}', ...versions]) {
    assert.throws(() => file.parse(text), { name: 'TypeError', message: /^(?!.*secret)/ })
  }
})
