/**
 * The files of `deploy/` as they are shipped, with nothing changed but where things are.
 * @module
 */

import { readFile } from 'node:fs/promises'

/** A place of ours instead of one of a real server. */
export interface Substitution {
  readonly marker: string
  /** How often it stands in the file: of one that was changed, nothing may be left over. */
  readonly times: number
  readonly by: string
}

/** Reads a file of `deploy/`. @throws {Error} when a marker is not there as often as it says. */
export async function readShipped(
  path: string,
  substitutions: readonly Substitution[],
): Promise<string> {
  const shipped = await readFile(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8')
  return substitutions.reduce((text, { marker, times, by }) => {
    const parts = text.split(marker)
    if (parts.length - 1 === times) return parts.join(by)
    throw new Error(`deploy/${path} has "${marker}" ${parts.length - 1} times, and not ${times}`)
  }, shipped)
}
