/** `clipgate link decode`: what a connect link holds, without its password. @module */

import { redactLink } from '../link/connect-link.ts'
import { parseLink } from './choose-server.ts'
import { printResult, type Invocation } from './command.ts'
import { withInput } from './input.ts'
import { visible } from './visible.ts'

/** Runs `clipgate link`. */
export async function runLink(call: Invocation): Promise<number> {
  const link = await withInput(call.shell, (input) => input.readLine('connect link'))
  const { v, url, user, o } = redactLink(parseLink(link))
  const rows = [['url', url], ['user', user], ['pwd', 'not shown'], ...Object.entries(o ?? {})]
  const lines = rows.map(([name = '', value = '']) => `${name.padEnd(8)}${visible(value)}`)
  printResult(call, { v, url, user, ...(o === undefined ? {} : { o }) }, lines)
  return 0
}
