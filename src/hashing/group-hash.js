/**
 * The hash of the files and folders of a Group. Plain JavaScript, for the workers that make
 * archives and read them: nothing of ten thousand entries has to reach the main thread.
 * @module
 */

import { createHash } from 'node:crypto'

/**
 * A file or a folder of a Group, as it is unpacked: with slashes between the segments of its name,
 * and none at its end. The digest is in lower-case hex.
 *
 * @typedef {{ readonly name: string, readonly file?: HashedFile | undefined }} GroupEntry
 * @typedef {{ readonly size: number, readonly sha256: string }} HashedFile
 */

/**
 * The hash that programs of the reference protocol expect in the document of a Group, in lower-case
 * hex: they compute it of the files and folders that they have unpacked.
 *
 * @param {readonly GroupEntry[]} entries
 * @returns {string}
 */
export function groupHashOf(entries) {
  const sorted = entries.map(({ name, file }) => {
    return { bytes: Buffer.from(file === undefined ? `${name}/` : name), name, file }
  })
  sorted.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  const hash = createHash('sha256')
  for (const { name, file } of sorted) {
    hash.update(file ? `F|${name}|${file.size}|${file.sha256.toUpperCase()}\0` : `D|${name}/\0`)
  }
  return hash.digest('hex')
}
