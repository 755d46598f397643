import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isContentId } from '../../src/core/content-id.ts'
import { ITEM_TYPES } from '../../src/core/item-type.ts'
import { contentIdOf, digestsOf, nameHashOf } from '../../src/hashing/content-id.ts'
import { sha256 } from '../support/hashes.ts'
import fc from '../support/property.ts'

const HELLO = Buffer.from('hello')

/** The first of the official test vectors, and those that end a chunk and begin another. */
const BLAKE3_VECTORS: Readonly<Record<number, string>> = {
  0: 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
  1: '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213',
  1024: '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7',
  1025: 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444',
}

describe('contentIdOf()', () => {
  it('gives the check values of the protocol', async () => {
    const { blake3 } = await digestsOf(HELLO)
    const text = 'blake3v1:d10e733553f46c16ca8d7cb0154d91f4052ef7f53e874a3d387acd64c918f89b'
    const file = 'blake3v1:63456970037b02a7b9179dc07c7a319d2662e43226bb082a8490e987b089e357'
    assert.equal(await contentIdOf('Text', blake3), text)
    assert.equal(await contentIdOf('Image', blake3), text)
    assert.equal(await contentIdOf('File', blake3), file)
    assert.equal(await contentIdOf('Group', blake3), file)
  })

  it('is always spelled like a content id', async () => {
    const digests = fc.uint8Array({ minLength: 32, maxLength: 32 })
    await fc.assert(
      fc.asyncProperty(digests, fc.constantFrom(...ITEM_TYPES), async (digest, type) => {
        const blake3 = Buffer.from(digest).toString('hex')
        assert.equal(isContentId(await contentIdOf(type, blake3)), true)
      }),
    )
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
  it('gives the official test vectors', async () => {
    for (const [length, expected] of Object.entries(BLAKE3_VECTORS)) {
      const input = Uint8Array.from({ length: Number(length) }, (_, i) => i % 251)
      assert.equal((await digestsOf(input)).blake3, expected)
    }
  })

  it('gives the SHA-256 of the bytes', async () => {
    const { sha256: hash } = await digestsOf(HELLO)
    assert.equal(hash, '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')
  })
})
