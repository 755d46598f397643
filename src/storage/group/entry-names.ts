/**
 * Names in an archive: one segment for each file or folder, from the name that it has on the disk.
 *
 * A name stays as it is wherever it can. What would be a path somewhere, or could not be printed,
 * becomes `_`, and names that are equal then are numbered.
 *
 * @module
 */

import { toDataName } from '../../core/data-name.ts'
import { numberedName } from '../../lib/safe-file-name.ts'

/** On Windows `C:x` is a path, and one that does not begin here. */
const DRIVE = /^([a-z]):/i

/** What is not UTF-8 becomes U+FFFD. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Something in a folder, or one of the things that were copied together. */
export interface NamedPath {
  /** As the system spells it, which need not be UTF-8. */
  readonly path: Buffer
  readonly fileName: Buffer
}

export interface Segment {
  readonly path: Buffer
  readonly name: string
}

/** Gives siblings names that differ; the same ones each time, whatever their order was. */
export function nameSiblings(siblings: readonly NamedPath[]): readonly Segment[] {
  const wanted = siblings
    .map(({ path, fileName }) => ({ path, ...toEntryName(fileName) }))
    // Whoever can keep its name does.
    .sort((a, b) => Number(a.isChanged) - Number(b.isChanged) || Buffer.compare(a.path, b.path))
  const taken = new Set<string>()
  const numbers = new Map<string, number>()
  return wanted.map(({ path, name }) => {
    let number = numbers.get(name) ?? 1
    while (taken.has(numberedName(name, number))) number++
    numbers.set(name, number + 1)
    const free = numberedName(name, number)
    taken.add(free)
    return { path, name: free }
  })
}

function toEntryName(fileName: Buffer): { readonly name: string; readonly isChanged: boolean } {
  const name = toDataName(utf8.decode(fileName)).replace(DRIVE, '$1_')
  return { name, isChanged: !Buffer.from(name).equals(fileName) }
}
