/**
 * Encodes what clients read of an item: a document, a record, a message of the hub.
 *
 * All of them have the text. A long one is encoded once for each item, and all that is sent of it
 * has the same bytes.
 * @module
 */

import { randomUUID } from 'node:crypto'
import type { Item } from '../../core/item.ts'
import { pieced, type PiecedBody } from '../../http/reply.ts'

/** A shorter text is copied faster than it is sent in pieces. */
const LONG_TEXT = 64 * 1024

/** Stands for a long text. Nobody can guess it, and have it in another field. */
const PLACE: string = randomUUID()

const ENCODED_PLACE: string = JSON.stringify(PLACE)

/** The JSON of long texts, for as long as their items are there. */
const texts = new WeakMap<Item, Uint8Array>()

/**
 * Encodes a part of an item.
 *
 * @param encode Gives JSON that has the text as it is in the item, once or several times.
 */
export function encodeItem(item: Item, encode: (item: Item) => string): string | PiecedBody {
  if (item.text.length <= LONG_TEXT) return encode(item)
  const parts = encode({ ...item, text: PLACE }).split(ENCODED_PLACE)
  const text = encodedTextOf(item)
  return pieced(parts.flatMap((part) => [text, Buffer.from(part)]).slice(1))
}

function encodedTextOf(item: Item): Uint8Array {
  const known = texts.get(item)
  if (known !== undefined) return known
  const text = Buffer.from(JSON.stringify(item.text))
  texts.set(item, text)
  return text
}
