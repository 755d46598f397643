/** The types of `zip-directory.js`, for modules that are published. @module */

/** Where the bytes of a file are; `offset` is that of its local header. */
export interface Packed {
  readonly flags: number
  readonly method: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/** An entry of the directory. */
export interface Entry extends Packed {
  /** Without a slash at its end. */
  readonly name: string
  readonly isFolder: boolean
}

export const MAX_NAME_LENGTH: number
export const LOCAL_BYTES: number

export function endLength(size: number): number
export function findDirectory(
  tail: Buffer,
  maxEntries: number,
): { readonly count: number; readonly length: number; readonly start: number }
export function readEntries(directory: Buffer, count: number): readonly Entry[]
export function isStored(entry: Packed): boolean
export function isEncrypted(entry: Pick<Packed, 'flags'>): boolean
export function startOf(header: Buffer, entry: Pick<Packed, 'offset'>): number
export function unfit(): Error
