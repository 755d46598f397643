/**
 * What another phone of the same person gets to see.
 * @module
 */

import assert from 'node:assert/strict'
import { sha256 } from '../../support/hashes.ts'
import { readObject, type Phone } from '../../support/phone.ts'

export interface Observation {
  /** The document at `/Sync.json`. */
  readonly document: Readonly<Record<string, unknown>>
  /** The document at `/SyncClipboard.json`. */
  readonly other: Readonly<Record<string, unknown>>
  /** What `/file/{dataName}` has, when the document says so. */
  readonly bytes: Buffer | undefined
}

/** A clipboard item, as a person would name it. */
export type Item =
  | readonly ['Text', text: string]
  | readonly ['Image' | 'File' | 'Group', dataName: string, bytes: Buffer]

/** Reads everything, and fails when it does not fit together. */
export async function observe(phone: Phone): Promise<Observation> {
  const document = await read(phone, '/Sync.json')
  const other = await read(phone, '/SyncClipboard.json')
  const { hash, size, ...described } = document
  const { hash: otherHash, size: otherSize, ...describedOther } = other
  assert.deepEqual(describedOther, described, 'both documents describe one item')

  if (document['hasData'] !== true) {
    const text = String(document['text'])
    const isNothing = document['contentId'] === undefined
    const expected = isNothing ? '' : sha256(Buffer.from(text))
    assert.equal(document['type'], 'Text', 'what has no data is a Text')
    assert.equal(size, Buffer.byteLength(text), 'the size is that of the text')
    assert.equal(otherSize, text.length, 'the other size is its length, as programs count it')
    assert.equal(hash, expected, 'the hash is that of the text')
    assert.equal(otherHash, expected.toUpperCase(), 'the other hash is the same in upper case')
    return { document, other, bytes: undefined }
  }

  const bytes = await phone.download()
  const content = sha256(bytes)
  const dataName = String(document['dataName'])
  assert.deepEqual([size, otherSize], [bytes.length, bytes.length], 'the size is that of the bytes')
  assert.equal(hash, content, 'the hash is that of the bytes')
  if (document['type'] === 'Group') {
    assert.match(String(otherHash), /^[\dA-F]+$/, 'the other hash of a Group is one in upper case')
  } else {
    const bound = sha256(Buffer.from(`${dataName}|${content.toUpperCase()}`)).toUpperCase()
    assert.equal(otherHash, bound, 'the other hash is bound to the name')
  }
  assert.notEqual(document['text'], '', 'there is something to show to a person')
  return { document, other, bytes }
}

/** Fails unless this is what the other phone sees. */
export function assertCurrent({ document, bytes }: Observation, item: Item | 'nothing'): void {
  const { type, text, dataName, contentId } = document
  if (item === 'nothing') {
    assert.equal(contentId, undefined, 'nothing is on the clipboard')
    return
  }
  assert.match(String(contentId), /^blake3v1:[\da-f]{64}$/, 'there is an item')
  if (item[0] === 'Text') {
    assert.deepEqual([type, text], item, 'this text is on the clipboard')
    return
  }
  assert.deepEqual([type, dataName], item.slice(0, 2), 'this item is on the clipboard')
  assert.ok(bytes?.equals(item[2]), 'its bytes are those that were pushed')
}

async function read(phone: Phone, path: string): Promise<Record<string, unknown>> {
  const response = await phone.fetch(path)
  assert.equal(response.status, 200, path)
  return readObject(response)
}
