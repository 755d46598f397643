/** Searches texts that may be long, for words that may be hostile. @module */

import { setImmediate as turn } from 'node:timers/promises'

/**
 * Units of UTF-16. V8 looks at a text a few times at most for words of up to 250; for longer ones,
 * such as `ab` and many more `a`, it may look as many times as the word has units.
 */
export const MAX_SEARCH_LENGTH = 200

/** Units that are searched in one go, which takes 25 ms at worst. */
const PIECE_LENGTH: number = 256 * 1024

/** Each piece begins in the one before: room for a word, and for what its case depends on. */
export const SEARCH_OVERLAP: number = 2 * MAX_SEARCH_LENGTH

/**
 * Whether a text has a word in it, in any letter case. Others have their turn between two pieces of
 * a long text.
 *
 * @param signal Ends the search.
 * @param word In lower case. No text has one of more than {@link MAX_SEARCH_LENGTH} units.
 */
export async function containsWord(
  text: string,
  word: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (word === '') return true
  if (word.length > MAX_SEARCH_LENGTH) return false
  for (let start = 0; start < text.length; start += PIECE_LENGTH) {
    if (start > 0) await turn()
    signal?.throwIfAborted()
    const piece = text.slice(Math.max(0, start - SEARCH_OVERLAP), start + PIECE_LENGTH)
    if (piece.toLowerCase().includes(word)) return true
  }
  return false
}

/** The same for a text that comes in pieces. */
export async function containsWordIn(
  pieces: Iterable<string> | AsyncIterable<string>,
  word: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (word === '') return true
  let rest = ''
  for await (const next of pieces) {
    // A piece may be too short for that to come of itself.
    if (rest !== '') await turn()
    const piece = rest + next
    if (await containsWord(piece, word, signal)) return true
    rest = piece.slice(-SEARCH_OVERLAP)
  }
  return false
}
