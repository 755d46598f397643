/**
 * `clipgate link decode`: what a connect link holds, without its password.
 *
 * @module
 */

import { parseConnectLink } from '../link/connect-link.ts'
import { redactLink } from '../link/redact-link.ts'
import { LinkError } from '../link/link-error.ts'
import { CommandError, UsageError, type Invocation } from './command.ts'
import { Input } from './input.ts'
import { print, printJson } from './shell.ts'
import { visible } from './visible.ts'

export async function runLink({ shell, args }: Invocation): Promise<number> {
  if (args.operands[0] !== 'decode') {
    throw new UsageError(['Cannot run "link": usage: clipgate link decode, with the link on stdin'])
  }
  const input = new Input(shell)
  try {
    const { v, url, user, o } = redact(await input.readLine('connect link'))
    if (args.flag('json')) printJson(shell, { v, url, user, ...(o === undefined ? {} : { o }) })
    else {
      const rows = [['url', url], ['user', user], ['pwd', 'not shown'], ...Object.entries(o ?? {})]
      for (const [name = '', value = ''] of rows) print(shell, `${name.padEnd(8)}${visible(value)}`)
    }
    return 0
  } finally {
    input.close()
  }
}

function redact(text: string): ReturnType<typeof redactLink> {
  try {
    return redactLink(parseConnectLink(text))
  } catch (error) {
    if (!(error instanceof LinkError)) throw error
    throw new CommandError(`Cannot decode the link: ${error.code}: ${error.message}`)
  }
}
