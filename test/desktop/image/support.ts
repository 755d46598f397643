/**
 * Reads pictures from bytes.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { bytesInMemory } from '../../../src/desktop/bytes-in-memory.ts'
import { ImageSource } from '../../../src/desktop/image/image-source.ts'
import { openPicture } from '../../../src/desktop/image/open-picture.ts'

export function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../../fixtures/images/${name}`, import.meta.url))
}

export async function openBytes(bytes: Uint8Array) {
  return openPicture(await ImageSource.open(bytesInMemory(bytes)))
}

/** All pixels; `undefined` when they are not decoded. */
export async function pixelsOf(bytes: Uint8Array): Promise<Buffer | undefined> {
  const picture = await openBytes(bytes)
  if (picture?.pixels === undefined) return undefined
  const parts: Buffer[] = []
  for await (const part of picture.pixels()) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
