/**
 * `clipgate version`.
 *
 * @module
 */

import { readVersion } from '../daemon/version.ts'
import type { Invocation } from './command.ts'
import { print } from './shell.ts'

export async function runVersion({ shell }: Invocation): Promise<number> {
  print(shell, `clipgate ${readVersion()}`)
  return 0
}
