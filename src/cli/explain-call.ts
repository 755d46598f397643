/** Says how this program is called where a shell does not find it by its name. @module */

import { delimiter } from 'node:path'
import { findProgram } from '../lib/find-program.ts'
import type { Shell } from './shell.ts'

/** Folders that npm and npx put on the path of what they start, and of nothing else. */
const OF_NPM = /[/\\]node_modules[/\\]\.bin[/\\]?$/

/** Characters that mean nothing to a shell. */
const PLAIN = /^[\w@%+=:,./\\-]+$/

/** A line for people; `undefined` where a shell finds the program. */
export async function explainCall(
  { where }: Pick<Shell, 'where'>,
  program: string,
): Promise<string | undefined> {
  const folders = (where.environment['PATH'] ?? '').split(delimiter)
  const lasting = folders.filter((folder) => !OF_NPM.test(folder)).join(delimiter)
  if ((await findProgram('clipgate', { PATH: lasting })) !== undefined) return undefined
  const path = PLAIN.test(program) ? program : `"${program}"`
  return `clipgate is not on your PATH: where it says "clipgate", type: node ${path}`
}
