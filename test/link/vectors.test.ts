import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { formatConnectLink, parseConnectLink, type ParsedLink } from '../../src/link.ts'

interface ValidVector {
  readonly name: string
  readonly link: string
  readonly parsed: ParsedLink
  readonly canonical: boolean
}

interface RefusedVector {
  readonly name: string
  readonly link: string
  readonly code: string
}

function readVectors<T>(file: string): readonly T[] {
  const url = new URL(`../../fixtures/links/${file}`, import.meta.url)
  // Our own files, of the shapes that their README describes.
  const vectors = JSON.parse(readFileSync(url, 'utf8')) as readonly T[]
  assert.ok(vectors.length > 0)
  return vectors
}

describe('connect-link vectors', () => {
  for (const { name, link, parsed, canonical } of readVectors<ValidVector>('valid.json')) {
    it(`accepts ${name}`, () => {
      assert.deepEqual(parseConnectLink(link), parsed)
    })
    if (canonical) {
      it(`formats ${name}, byte for byte`, () => {
        assert.equal(formatConnectLink(parsed), link)
      })
    }
  }

  for (const { name, link, code } of readVectors<RefusedVector>('refused.json')) {
    // Protocol: A client checks in this order
    // Protocol: Inputs that must fail
    it(`refuses ${name} with ${code}`, () => {
      assert.throws(() => parseConnectLink(link), { name: 'LinkError', code })
    })
  }
})
