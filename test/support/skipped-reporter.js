/**
 * A reporter for `node --test` beside that which is read: one line at the end about what was not
 * tried on this machine, and why. Node loads reporters before it can read TypeScript.
 * @module
 */

/**
 * Yields that line when all tests have ended; nothing where all were run.
 *
 * @param {AsyncIterable<{ type: string, data: { skip?: string | boolean } }>} events
 */
export default async function* reportSkipped(events) {
  const counts = new Map()
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip === undefined || data.skip === false) continue
    const why = String(data.skip).replace(/^skipped: /, '')
    counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  const all = [...counts].sort(([, one], [, other]) => other - one)
  if (all.length > 0) yield `Skipped: ${all.map(([why, count]) => `${count} ${why}`).join('; ')}\n`
}
