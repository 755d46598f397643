/** Guesses which of a few known words somebody meant. @module */

/** A shorter beginning may be that of anything. */
const MIN_BEGINNING = 3

/** The share of the letters that may be wrong. */
const MAX_WRONG = 0.34

/** The known word that is most like `word`, or begins with it; `undefined` when none is. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const scored = known.map((name) => ({ name, wrong: countWrong(word, name) }))
  const [best] = scored.sort((a, b) => a.wrong - b.wrong)
  if (best !== undefined && best.wrong <= Math.max(1, word.length * MAX_WRONG)) return best.name
  if (word.length < MIN_BEGINNING) return undefined
  return known.find((name) => name.startsWith(word))
}

/** Counts letters that are missing, too many, others, or swapped with the next one. */
function countWrong(word: string, name: string): number {
  let before: readonly number[] = []
  let last: readonly number[] = Array.from({ length: name.length + 1 }, (_, at) => at)
  for (let row = 1; row <= word.length; row++) {
    const next = [row]
    for (let at = 1; at <= name.length; at++) {
      const isSame = word[row - 1] === name[at - 1]
      const isSwapped = word[row - 1] === name[at - 2] && word[row - 2] === name[at - 1]
      next[at] = Math.min(
        (last[at] ?? 0) + 1,
        (next[at - 1] ?? 0) + 1,
        (last[at - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[at - 2] ?? 0) + 1 : Infinity,
      )
    }
    before = last
    last = next
  }
  return last[name.length] ?? 0
}
