/**
 * The atoms that this room knows. Their numbers belong to one run of one server.
 * @module
 */

import type { XConnection } from './x-connection.ts'

const NAMES = [
  'ATOM',
  'ATOM_PAIR',
  'CLIPBOARD',
  'INCR',
  'INTEGER',
  'MULTIPLE',
  'STRING',
  'TARGETS',
  'TEXT',
  'TIMESTAMP',
  'UTF8_STRING',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/heic',
  'image/heif',
  'image/jpeg',
  'image/png',
  'image/tiff',
  'image/webp',
  'text/plain',
  'text/plain;charset=UTF-8',
  'text/plain;charset=utf-8',
  'text/uri-list',
  'x-kde-passwordManagerHint',
  'x-special/gnome-copied-files',
  'CLIPGATE_TIME',
] as const

export type AtomName = (typeof NAMES)[number]

/** The atoms of a server, by their names and back. */
export interface Atoms {
  /** The number of a known atom. */
  of(name: AtomName): number
  /** The name of an atom; `undefined` for one that means nothing here. */
  nameOf(atom: number): string | undefined
}

/** Asks the server for all of them, in one round trip. */
export async function internAtoms(connection: XConnection): Promise<Atoms> {
  const pairs = await Promise.all(
    NAMES.map(async (name) => [name, await connection.internAtom(name)] as const),
  )
  const numbers = new Map<string, number>(pairs)
  const names = new Map(pairs.map(([name, atom]) => [atom, name]))
  return { of: (name) => numbers.get(name) ?? 0, nameOf: (atom) => names.get(atom) }
}
