import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contentIdOf, digestsOf, nameHashOf } from '../../src/hashing/file-hasher.ts'
import { sha256 } from '../support/hashes.ts'

const HELLO = Buffer.from('hello')

describe('contentIdOf()', () => {
  // Protocol: Check values
  it('gives the check values of the protocol', async () => {
    const { blake3 } = await digestsOf(HELLO)
    const text = 'blake3v1:d10e733553f46c16ca8d7cb0154d91f4052ef7f53e874a3d387acd64c918f89b'
    const file = 'blake3v1:63456970037b02a7b9179dc07c7a319d2662e43226bb082a8490e987b089e357'
    for (const type of ['Text', 'Image'] as const)
      assert.equal(await contentIdOf(type, blake3), text)
    for (const type of ['File', 'Group'] as const)
      assert.equal(await contentIdOf(type, blake3), file)
  })
})

describe('nameHashOf()', () => {
  it('hashes the name and the hash of the bytes, as the reference protocol does', () => {
    const hash = sha256(HELLO)
    const expected = sha256(`写真.png|${hash.toUpperCase()}`)
    assert.equal(nameHashOf('写真.png', hash), expected)
    assert.equal(nameHashOf('写真.png', hash.toUpperCase()), expected)
    assert.equal(
      nameHashOf('a.txt', hash),
      '5b93670d2fc92bb885a3b90d6aa8ec748c264dc3bbf1974993d1ae7693ceb57b',
    )
  })
})

describe('digestsOf()', () => {
  it('gives the check values of both hashes', async () => {
    assert.deepEqual(await digestsOf(HELLO), {
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      blake3: 'ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f',
    })
  })
  it('hashes many at once with one instance of WebAssembly', async (t) => {
    const texts = Array.from({ length: 100 }, (_, index) => Buffer.from(`text ${index}`))
    const one = await digestsOf(texts[7] ?? HELLO)
    const instantiate = t.mock.method(Reflect.get(globalThis, 'WebAssembly'), 'instantiate')
    const many = await Promise.all(texts.map(digestsOf))
    await Promise.all(many.map(({ blake3 }) => contentIdOf('File', blake3)))
    assert.equal(instantiate.mock.callCount(), 0)
    assert.deepEqual(many[7], one)
    assert.equal(new Set(many.map(({ blake3 }) => blake3)).size, texts.length)
  })
})
