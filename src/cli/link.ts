/** `clipgate link decode`: what a connect link holds, without its password. @module */

import { parseConnectLink } from '../link/connect-link.ts'
import { redactLink } from '../link/redact-link.ts'
import { LinkError } from '../link/link-error.ts'
import { CommandError, printResult, UsageError, type Invocation } from './command.ts'
import { withInput } from './input.ts'
import { visible } from './visible.ts'

/** Runs `clipgate link`. */
export async function runLink(call: Invocation): Promise<number> {
  if (call.args.operands[0] !== 'decode') {
    throw new UsageError(['Cannot run "link": usage: clipgate link decode, with the link on stdin'])
  }
  const link = await withInput(call.shell, (input) => input.readLine('connect link'))
  const { v, url, user, o } = redact(link)
  const rows = [['url', url], ['user', user], ['pwd', 'not shown'], ...Object.entries(o ?? {})]
  const lines = rows.map(([name = '', value = '']) => `${name.padEnd(8)}${visible(value)}`)
  printResult(call, { v, url, user, ...(o === undefined ? {} : { o }) }, lines)
  return 0
}

function redact(text: string): ReturnType<typeof redactLink> {
  try {
    return redactLink(parseConnectLink(text))
  } catch (error) {
    if (!(error instanceof LinkError)) throw error
    throw new CommandError(`Cannot decode the link: ${error.code}: ${error.message}`)
  }
}
